"""The status site: pages made of what the database says, published as static files."""
