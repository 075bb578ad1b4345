"""What the tests share: sample runs, programs, screens, and how a program is started or asked."""
