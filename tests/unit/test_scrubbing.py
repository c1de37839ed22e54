"""No credential survives in what is kept of a pod, whatever surrounds it and wherever it is cut."""

import string
import textwrap
from collections.abc import Callable

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from reconcile.kube.logs import Bounds, Fetch, last_bytes, tail
from reconcile.kube.scrubbing import LOOKED_AT, MESSAGE_LIMIT, SCRUBBED, message, scrub

ALPHANUMERIC = string.ascii_letters + string.digits
FRAGMENT = 24  # so much of a credential is no use to anybody


def letters(alphabet: str, shortest: int, longest: int) -> st.SearchStrategy[str]:
    return st.text(alphabet, min_size=shortest, max_size=longest)


code = st.one_of(letters(ALPHANUMERIC + "+/", 120, 400), letters(ALPHANUMERIC + "-_", 120, 400))
configurations = st.builds(
    lambda lead, rest, padding: lead + rest + padding,
    st.sampled_from(["eyJ", "A", "c2"]),
    code,
    st.sampled_from(["", "=", "=="]),
)
tokens = st.builds(
    lambda kind, rest: kind + rest,
    st.sampled_from(["ghs_", "ghp_", "gho_", "ghu_", "ghr_", "github_pat_"]),
    letters(ALPHANUMERIC + "_", 36, 90),
)
jwts = st.builds(
    lambda *parts: "eyJ" + ".".join(parts),
    *(letters(ALPHANUMERIC + "-_", 10, 200) for _ in range(3)),
)
values = letters(ALPHANUMERIC + "._~+/-", 24, 90)
# How a credential is written, and the credential.
credentials = st.one_of(
    st.tuples(st.just("{}"), st.one_of(configurations, tokens, jwts)),
    st.tuples(
        st.sampled_from(
            [
                "RUNNER_JITCONFIG={}",
                "RUNNER_JITCONFIG='{}'",
                'export RUNNER_JITCONFIG = "{}"',
                '"RUNNER_JITCONFIG": "{}"',
                '\\"encoded_jit_config\\":\\"{}\\"',
                "./run.sh --jitconfig {}",
                "Authorization: Basic {}",
                "authorization: token {}",
                '"Authorization": "{}"',
                "Bearer {}",
                "BEARER  {}",
                '"bearer": "{}"',
            ]
        ),
        values,
    ),
)
pieces = st.sampled_from(
    ["\n", "\r\n", " ", "=", "==", '"', "'", "-", ".", ".hello.world", "ghs_", "eyJ", "A", "%2F"]
)
surroundings = st.lists(st.one_of(pieces, st.text(max_size=20)), max_size=5).map("".join)


def survives(secret: str, text: str) -> bool:
    """Whether so much of it is left that it matters."""
    starts = range(len(secret) - FRAGMENT + 1)
    return any(secret[start : start + FRAGMENT] in text for start in starts)


@given(surroundings, credentials, surroundings)
def test_nothing_around_a_credential_saves_it(
    before: str, credential: tuple[str, str], after: str
) -> None:
    form, secret = credential
    assume(not survives(secret, before + "\n" + after))
    scrubbed = scrub(before + form.format(secret) + after)
    assert not survives(secret, scrubbed)
    assert SCRUBBED in scrubbed


@given(surroundings, letters(ALPHANUMERIC + "+/", 300, 600), st.sampled_from([64, 76]))
def test_configuration_wrapped_into_lines_is_scrubbed(before: str, secret: str, width: int) -> None:
    lines = textwrap.wrap(secret, width)
    for joint in ("\n", "\r\n", "\n    ", "\\n"):
        scrubbed = scrub(f"{before} {joint.join(lines)} and so on")
        assert not any(survives(line, scrubbed) for line in lines)


@given(st.text())
def test_scrubbing_again_changes_nothing(text: str) -> None:
    assert scrub(scrub(text)) == scrub(text)


@given(st.lists(st.text("abcdefgh .,:;!?\n", max_size=30), max_size=20).map(" ".join))
def test_ordinary_words_are_left_alone(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "RUNNER_JITCONFIG is not set: there is nothing to run with.",
        "√ Connected to GitHub\n2026-03-02 09:00:00Z: Listening for Jobs",
        "-" * 200 + "\n" + "=" * 200,
        "Pulled image registry.example/ubuntu-24.04@sha256:" + "0a" * 32,
        "highs_of_the_day and github_pat_",
        "Running job: build / riscv64 (ubuntu-24.04-riscv, gcc-14, -O2)",
    ],
)
def test_what_runners_say_is_left_alone(text: str) -> None:
    assert scrub(text) == text


@pytest.mark.parametrize(
    "piece",
    ["eyJ", "eyJaaaaa.", "ghs_", "A" * 119 + " ", "A" * 59 + "\n", "bearer ", '"jitconfig"', "-"],
)
def test_time_to_scrub_is_linear_in_the_text(piece: str) -> None:
    """Were it quadratic, this would run into the limit of every test."""
    scrub(piece * (500_000 // len(piece)))


def test_names_of_what_was_scrubbed_stay() -> None:
    text = "RUNNER_JITCONFIG=abc Bearer xyz\nAuthorization: Basic dXNlcg==\n"
    expected = f"RUNNER_JITCONFIG={SCRUBBED} Bearer {SCRUBBED}\nAuthorization: {SCRUBBED}\n"
    assert scrub(text) == expected


@given(st.text(st.characters(codec=None), max_size=50))
def test_what_postgresql_refuses_is_replaced(text: str) -> None:
    scrubbed = scrub(f"\x00{text}\ud800")
    assert "\x00" not in scrubbed
    scrubbed.encode()


@given(st.text(min_size=1, max_size=3 * MESSAGE_LIMIT))
def test_messages_are_bounded(text: str) -> None:
    assert len(message(text) or "") <= MESSAGE_LIMIT


@given(credentials, st.integers(0, MESSAGE_LIMIT + 300))
def test_no_cut_of_a_message_leaves_half_a_credential(
    credential: tuple[str, str], place: int
) -> None:
    form, secret = credential
    kept = message("." * place + " " + form.format(secret) + " " + "." * MESSAGE_LIMIT)
    assert not survives(secret, kept or "")
    # What is scrubbed before it may move the place where it was cut into what is kept.
    scrubbed = "A" * (LOOKED_AT - MESSAGE_LIMIT) + " "
    kept = message(scrubbed + "." * place + " " + form.format(secret) + " " + "." * LOOKED_AT)
    assert not survives(secret, kept or "")


@pytest.mark.parametrize("value", [None, "", 7, [], {}, True])
def test_what_is_no_text_is_no_message(value: object) -> None:
    assert message(value) is None


# Logs.

SMALL = Bounds(kept_bytes=300, fetched_bytes=900, fetched_lines=40, piece_bytes=100)


def server(text: str, bounds: Bounds) -> Fetch:
    """As a kubelet reads a log: the pieces of long lines count, and the limit cuts the end."""
    stored: list[bytes] = []
    for line in text.encode().splitlines(keepends=True):
        size = bounds.piece_bytes
        stored += [line[start : start + size] for start in range(0, len(line), size)]

    def fetch(lines: int, limit: int) -> bytes:
        return b"".join(stored[-lines:])[:limit]

    return fetch


def log_lines(longest: int) -> st.SearchStrategy[str]:
    return st.text(
        st.characters(exclude_characters="\r\n\x85\u2028", codec="utf-8"), max_size=longest
    )


@given(
    st.lists(log_lines(200), max_size=60),
    credentials,
    st.lists(log_lines(200), max_size=60),
    st.sampled_from(["", "\n"]),
)
def test_no_cut_of_a_log_leaves_half_a_credential(
    before: list[str], credential: tuple[str, str], after: list[str], end: str
) -> None:
    form, secret = credential
    assume(not survives(secret, "\n".join([*before, *after])))
    text = "\n".join([*before, form.format(secret), *after]) + end
    kept = tail(server(text, SMALL), SMALL)
    assert not survives(secret, kept)
    assert len(kept.encode()) <= SMALL.kept_bytes


@given(st.lists(log_lines(100), min_size=1, max_size=200))
def test_end_of_a_log_is_kept(lines: list[str]) -> None:
    kept = tail(server("".join(f"{line}\n" for line in lines) + "the end\n", SMALL), SMALL)
    assert kept.endswith("the end\n")


def counted(fetch: Fetch, calls: list[int]) -> Callable[[int, int], bytes]:
    def count(lines: int, limit: int) -> bytes:
        calls.append(lines)
        return fetch(lines, limit)

    return count


def test_last_64_kibibytes_are_kept_of_a_long_log() -> None:
    lines = "".join(f"line {number:06} of a build that talks a lot\n" for number in range(50_000))
    calls: list[int] = []
    kept = tail(counted(server(lines, Bounds()), calls))
    assert lines.endswith(kept)
    assert 63 * 1024 < len(kept) <= 64 * 1024
    assert len(calls) == 1


def test_short_log_is_kept_whole() -> None:
    assert tail(server("one\ntwo", Bounds())) == "one\ntwo"
    assert tail(server("", Bounds())) == ""


def test_log_of_long_lines_is_asked_for_in_fewer() -> None:
    lines = [f"{number:04} " + "long enough " * 1000 for number in range(300)]
    calls: list[int] = []
    kept = tail(counted(server("\n".join(lines), Bounds(piece_bytes=16_384)), calls))
    assert "\n".join(lines).endswith(kept)
    assert 48 * 1024 < len(kept) <= 64 * 1024
    assert len(calls) <= 4


def test_log_that_is_one_endless_line_leaves_nothing() -> None:
    calls: list[int] = []
    fetch = counted(server("no end " * 200_000, Bounds(piece_bytes=10**7)), calls)
    assert tail(fetch) == ""
    assert len(calls) <= 8


def test_cut_falls_between_characters() -> None:
    assert last_bytes("é" * 10, 5) == "éé"
    assert last_bytes("first\nsecond\n", 9) == "second\n"
