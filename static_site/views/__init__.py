"""What the templates are given: page models made into words, shapes and addresses. Pure."""
