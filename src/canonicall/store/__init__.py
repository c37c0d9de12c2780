"""Where conversations and the execution journal are kept: SQLite by default, else PostgreSQL."""
