"""What is asked of tensors inside a run, of a function or of a session, and the ops that answer."""

from tfdbg_cli.capture.questions.known import question_of
from tfdbg_cli.capture.questions.question import Question

__all__ = ["Question", "question_of"]
