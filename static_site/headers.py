"""What every response says beside its body, wherever the site is served from. template.yaml says
the same to the CDN, and a test holds the two together."""

# The pages run their own script and nothing else: what a job's or a worker's name says is text.
_DIRECTIVES = (
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
)
CONTENT_SECURITY_POLICY = "; ".join(_DIRECTIVES)
# For a <meta> element, where browsers ignore frame-ancestors and complain about it.
META_CONTENT_SECURITY_POLICY = "; ".join(
    each for each in _DIRECTIVES if not each.startswith("frame-ancestors")
)

SECURITY = {
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
}

# By extension: these are all there are, and nothing else behind a dot is one.
CONTENT_TYPES = {
    "html": "text/html; charset=utf-8",
    "json": "application/json",
    "css": "text/css; charset=utf-8",
    "js": "text/javascript; charset=utf-8",
    "svg": "image/svg+xml",
    "txt": "text/plain; charset=utf-8",
    "ico": "image/vnd.microsoft.icon",
}


def content_type(file: str) -> str:
    return CONTENT_TYPES.get(file.rpartition(".")[2], "application/octet-stream")


# Cache-Control, by how soon a file may be another one.
LIVE = "public, max-age=5"  # every run may change it
SETTLING = "public, max-age=60"  # a day that is not over, or not long enough ago
DIAGNOSIS = "public, max-age=3600"  # a failed worker's page
ARCHIVE = "public, max-age=31536000, immutable"  # a day that is settled
ASSET = ARCHIVE  # its name has its hash in it
REVALIDATE = "no-cache"  # the local server: asking is free there

# How many pages a list has goes with each of its files: as metadata of the object in storage,
# which its storage answers with as x-amz-meta-pages.
PAGES_METADATA = "pages"
