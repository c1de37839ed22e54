"""The client on the simulated GitHub: JWTs, installation tokens, and what happens without."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from reconcile.errors import AccessError, PermanentError, RateLimitedError, TransientError
from reconcile.github import App, Apps, GitHubClient
from reconcile.github.apps import Signer
from reconcile.sim import faults
from reconcile.sim.faults import Fault
from reconcile.sim.http import Request, Response
from tests.integration.github_client import TIMEOUT, Bench, bench, by_key
from tests.simulated import private_key


@pytest.fixture
def it() -> Iterator[Bench]:
    with bench() as it:
        yield it


def another_key() -> str:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return _pem(key)


def _pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, password: bytes = b"") -> str:
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(password)
        if password
        else serialization.NoEncryption(),
    ).decode()


def watch_tokens(it: Bench) -> list[str]:
    """The bearer of every call of an installation, from now on."""
    seen: list[str] = []

    def observe(request: Request, _: Response) -> None:
        if not request.path.startswith("/app"):
            seen.append(request.headers["authorization"].removeprefix("Bearer "))

    it.world.server.observers.append(observe)
    return seen


# Tokens --------------------------------------------------------------------------------------


def test_token_is_asked_for_once_and_kept_for_59_minutes_across_runs(it: Bench) -> None:
    first = it.client()
    for _ in range(3):
        first.runners(it.org, None, [])
    saved = first.credentials()
    assert it.counted("create_token") == 1
    it.world.time.step(59 * 60 - 1)
    second = it.client(saved)
    second.runners(it.org, None, [])
    assert it.counted("create_token") == 1
    it.world.time.step(1)
    second.runners(it.org, None, [])
    assert it.counted("create_token") == 2
    it.client(second.credentials()).runners(it.org, None, [])
    assert it.counted("create_token") == 2


def test_only_what_changed_is_given_to_be_saved(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    assert {each.key for each in client.credentials()} == {
        f"installation:{it.org.installation_id}",
        f"app:{it.world.app.id}",
    }
    assert client.credentials() == []
    client.runners(it.org, None, [])
    [changed] = client.credentials()
    assert changed.key == f"installation:{it.org.installation_id}"


def test_stored_token_cannot_be_read_without_the_key_nor_used_for_another(it: Bench) -> None:
    seen = watch_tokens(it)
    client = it.client()
    client.runners(it.org, None, [])
    credential = by_key(client.credentials(), "installation")
    assert credential.token is not None
    assert seen[0].encode() not in credential.token
    assert "token=" not in repr(credential)
    app = it.apps.organization
    assert app.unseal(credential.token, credential.key) == seen[0]
    assert app.unseal(credential.token, "installation:1") is None
    assert App(app.id, another_key()).unseal(credential.token, credential.key) is None
    for damaged in (b"", b"short", credential.token[:-1], b"x" + credential.token):
        assert app.unseal(damaged, credential.key) is None
    assert app.seal(seen[0], credential.key) != app.seal(seen[0], credential.key)


def test_token_sealed_under_another_key_is_asked_for_anew(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    saved = client.credentials()
    sealed = by_key(saved, "installation")
    sealed.token = App(1, another_key()).seal("ghs_old", sealed.key)
    it.client(saved).runners(it.org, None, [])
    assert it.counted("create_token") == 2


def test_token_that_github_does_not_know_is_replaced_and_the_call_repeated(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    saved = client.credentials()
    sealed = by_key(saved, "installation")
    sealed.token = it.apps.organization.seal("ghs_forgotten", sealed.key)
    second = it.client(saved)
    group = it.group(second)
    assert it.counted("create_token") == 2
    it.world.faults.next("github.create_jit_config_org", faults.expired_token())
    second.create_jit_config(it.org, group, "runner-1", ["riscv"])
    assert it.counted("create_token") == 3
    assert len(second.runners(it.org, None, []).items) == 1


def test_token_that_is_never_accepted_is_an_error_after_one_repeat(it: Bench) -> None:
    client = it.client()
    it.world.faults.always("github.list_org_runners", faults.expired_token())
    with pytest.raises(PermanentError, match="401 Bad credentials"):
        client.runners(it.org, None, [])
    assert it.counted("list_org_runners") == 2


def test_many_threads_ask_for_one_token(it: Bench) -> None:
    it.world.faults.always("github.create_token", faults.latency(0.2))
    client = it.client()
    failed = run_together(16, lambda: client.runners(it.org, None, []))
    assert not failed
    assert it.counted("create_token") == 1
    assert it.counted("list_org_runners") == 16


def run_together(count: int, work: Callable[[], object]) -> list[Exception]:
    failed: list[Exception] = []

    def guarded() -> None:
        try:
            work()
        except Exception as error:  # noqa: BLE001 for the test to look at
            failed.append(error)

    threads = [threading.Thread(target=guarded) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failed


def test_each_kind_of_account_uses_its_own_app(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    client.runners(it.repo, None, [])
    apps = {each.key for each in client.credentials() if each.key.startswith("app:")}
    assert apps == {f"app:{it.world.app.id}", f"app:{it.personal_app.id}"}
    with pytest.raises(ValueError, match="no App 4711"):
        client.redeliver(4711, 1)


# Failures ------------------------------------------------------------------------------------


def refused(client: GitHubClient, it: Bench) -> AccessError:
    with pytest.raises(AccessError) as caught:
        client.runners(it.org, None, [])
    return caught.value


def test_installation_that_is_gone_is_told_once_and_asked_again_after_five_minutes(
    it: Bench,
) -> None:
    it.world.github.accounts.uninstall(it.world.installation)
    client = it.client()
    error = refused(client, it)
    assert (error.status, error.gone) == (404, True)
    [failure] = client.take_auth_failures()
    assert (failure.event, failure.status) == ("auth_attempt.404", 404)
    assert (failure.installation_id, failure.app_id) == (it.org.installation_id, it.world.app.id)
    assert failure.scope == it.org
    assert failure.message.endswith("access_tokens: 404 Not Found")
    it.world.time.step(299)
    client = it.client(client.credentials())
    known = client.refusal(it.org)
    assert isinstance(known, AccessError)
    assert known.gone
    assert client.refusal(it.repo) is None
    assert refused(client, it).gone
    assert it.counted("create_token") == 1
    it.world.time.step(1)
    assert refused(client, it).gone
    assert it.counted("create_token") == 2
    assert client.take_auth_failures() == []


def test_suspended_installation_is_told_once_and_asked_again_after_a_minute(it: Bench) -> None:
    it.world.github.accounts.suspend(it.world.installation)
    client = it.client()
    error = refused(client, it)
    assert (error.status, error.gone) == (403, False)
    [failure] = client.take_auth_failures()
    assert (failure.event, failure.status) == ("auth_attempt.other_error", 403)
    it.world.time.step(59)
    client = it.client(client.credentials())
    assert not refused(client, it).gone
    assert it.counted("create_token") == 1
    it.world.time.step(1)
    refused(client, it)
    assert it.counted("create_token") == 2
    assert client.take_auth_failures() == []
    it.world.github.accounts.unsuspend(it.world.installation)
    it.world.time.step(60)
    client.runners(it.org, None, [])
    assert by_key(client.credentials(), "installation").auth_failure is None


def test_failure_of_another_kind_is_told_and_so_is_the_success_that_ends_it(it: Bench) -> None:
    accounts, client = it.world.github.accounts, it.client()
    accounts.suspend(it.world.installation)
    refused(client, it)
    it.world.time.step(300)
    accounts.uninstall(it.world.installation)
    refused(client, it)
    it.world.time.step(300)
    accounts.install(it.world.app, it.world.organization, installation_id=it.world.installation.id)
    client.runners(it.org, None, [])
    accounts.uninstall(accounts.installations[it.world.installation.id])
    refused(client, it)
    events = [each.event.removeprefix("auth_attempt.") for each in client.take_auth_failures()]
    assert events == ["other_error", "404", "ok", "404"]


def test_installation_suspended_while_its_token_is_in_use_has_no_access(it: Bench) -> None:
    client = it.client()
    client.runners(it.org, None, [])
    it.world.github.accounts.suspend(it.world.installation)
    assert refused(client, it).status == 403
    assert len(client.take_auth_failures()) == 1


def test_app_that_does_not_exist_reads_not_as_installation_gone(it: Bench) -> None:
    nobody = Apps(App(4711, private_key()), it.apps.personal)
    client = it.client(apps=nobody)
    assert not refused(client, it).gone
    assert [each.event for each in client.take_auth_failures()] == ["auth_attempt.other_error"]


def test_apps_mistaken_for_each_other_read_not_as_installation_gone(it: Bench) -> None:
    client = it.client(apps=Apps(it.apps.personal, it.apps.organization))
    assert not refused(client, it).gone
    assert [each.event for each in client.take_auth_failures()] == ["auth_attempt.other_error"]


def test_key_of_another_app_is_an_auth_failure_and_named_by_the_check(it: Bench) -> None:
    wrong = App(it.world.app.id, another_key())
    client = it.client(apps=Apps(wrong, it.apps.personal))
    assert refused(client, it).status == 401
    with pytest.raises(PermanentError, match=f"401 .* App {wrong.id}'s private key"):
        client.app_slug(wrong)
    assert client.app_slug(it.apps.personal) == it.personal_app.slug


@pytest.mark.parametrize(
    "fault",
    [
        faults.status(500),
        faults.status(503),
        faults.reset(),
        faults.timeout(),
        faults.half_body(),
        faults.wrong_json(),
    ],
)
def test_token_endpoint_that_fails_is_no_auth_failure(it: Bench, fault: Fault) -> None:
    it.world.faults.next("github.create_token", fault, times=2)
    client = it.client(request_timeout=TIMEOUT)
    client.runners(it.org, None, [])
    assert it.counted("create_token") == 3, "repeated twice"
    assert [0.2 <= it.sleeps[0] <= 0.5, 0.4 <= it.sleeps[1] <= 1] == [True, True]
    it.world.time.step(3600)
    it.world.faults.always("github.create_token", fault)
    with pytest.raises(TransientError):
        client.runners(it.org, None, [])
    assert it.counted("create_token") == 6
    assert client.take_auth_failures() == []


def test_threads_that_waited_for_a_token_share_that_none_came(it: Bench) -> None:
    it.world.faults.always("github.create_token", faults.status(503))
    it.world.faults.always("github.create_token", faults.latency(0.2))
    client = it.client()
    failed = run_together(8, lambda: client.runners(it.org, None, []))
    assert len(failed) == 8
    assert all(type(error) is TransientError for error in failed)
    assert it.counted("create_token") == 3


def test_limited_app_gives_no_tokens_and_no_auth_failure(it: Bench) -> None:
    it.world.faults.next("github.create_token", faults.rate_limited(30))
    client = it.client()
    for _ in range(2):
        with pytest.raises(RateLimitedError):
            client.runners(it.org, None, [])
    assert it.counted("create_token") == 1
    client.runners(it.repo, None, [])
    it.world.time.step(30)
    client.runners(it.org, None, [])
    assert client.take_auth_failures() == []


# Keys and JWTs -------------------------------------------------------------------------------


def test_malformed_private_key_is_refused_without_being_quoted() -> None:
    good = private_key()
    body = good.splitlines()
    damaged = "\n".join([*body[:8], body[9], body[8], *body[10:]])
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    for text in (
        "",
        "no key",
        good[: len(good) // 2],
        damaged,
        "\udc80" + good.replace("PRIVATE", "PUBLIC"),
        _pem(key, b"secret"),
        _pem(ec.generate_private_key(ec.SECP256R1())),
    ):
        with pytest.raises(
            ValueError, match="private key of GitHub App 12 is not an RSA"
        ) as caught:
            App(12, text)
        assert body[3] not in str(caught.value)
    app = App(12, good)
    assert body[3] not in repr(app) + repr(Apps(app, app))
    assert replace(app) == app


def test_jwt_is_made_once_and_renewed_before_it_expires(it: Bench) -> None:
    signer, app = Signer(it.world.time.clock), it.apps.organization
    first = signer.jwt(app)
    it.world.time.step(480)
    assert signer.jwt(app) == first
    it.world.time.step(1)
    assert signer.jwt(app) != first
    assert signer.jwt(it.apps.personal) != signer.jwt(app)


def test_long_lived_client_never_shows_an_expired_jwt(it: Bench) -> None:
    client = it.client()
    for _ in range(40):
        client.failed_deliveries(it.world.app.id, None)
        it.world.time.step(59)
