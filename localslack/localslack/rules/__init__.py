"""What Slack accepts: shapes, blocks, elements, and the limits of messages and views."""
