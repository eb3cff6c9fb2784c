"""The one error that a user can mend. Its message names the file, line or value, and says what to do."""

from __future__ import annotations


class UserError(ValueError):
    """Bad input or a fault of the surroundings. The command prints it as one line and exits with 1."""


class UsageError(UserError):
    """The command line asks for something that does not exist. Exit code 2."""
