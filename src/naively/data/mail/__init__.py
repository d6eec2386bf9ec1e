"""Mail: one message as words by column, and the messages of a mailbox."""
