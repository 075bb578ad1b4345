"""What commands answer: styled text with links, tables and arrays, lowered to plain text, ANSI or JSON."""
