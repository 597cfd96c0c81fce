"""Services for requests from Slack: access control, and answers that each request gets once."""
