"""What queries answer: tables, and how they become those of other libraries."""
