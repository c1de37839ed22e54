"""Which repositories an installation covers, and of which nobody can tell."""

from tests.trace_events import APP, ASKED, INSTALLATION, NAME, World, event, listed, numbered, stamp
from tests.trace_folding import covered, only
from webhook_fn.trace.state import Status


def test_created_on_all_repositories_covers_whatever_there_is() -> None:
    world = World()
    world.install()
    it = only(world.log())
    assert (it.id, it.app_id, it.status, it.began) == (INSTALLATION, APP, Status.INSTALLED, True)
    assert it.since.event == "installation.created"
    assert it.permissions == ASKED
    assert (it.repositories.selection, it.repositories.complete) == ("all", False)
    assert covered(it, "linux", "of-next-year") == [True, True]


def test_created_on_some_repositories_covers_only_these() -> None:
    world = World()
    world.install(chosen={"linux", "qemu"})
    it = only(world.log())
    assert (it.repositories.selection, it.repositories.complete) == ("selected", True)
    assert covered(it, "linux", "qemu", "llvm") == [True, True, False]


def test_created_on_some_repositories_without_a_list_leaves_all_of_them_open() -> None:
    it = only([event("installation.created", updated_at=stamp(0), selection="selected")])
    assert not it.repositories.complete
    assert covered(it, "linux") == [None]


def test_created_on_repositories_of_which_one_cannot_be_read_is_not_complete() -> None:
    names = [*listed({"linux"}), {"id": 2}]
    it = only([event("installation.created", selection="selected", repositories=names)])
    assert covered(it, "linux", "qemu") == [True, None]


def test_added_repositories_are_covered_and_removed_ones_are_not() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.select(number, {"qemu"})
    it = only(world.log())
    assert covered(it, "linux", "qemu", "llvm") == [False, True, False]
    assert it.repositories.complete
    removal = it.repositories.removal_of(f"{NAME}/Linux")
    assert removal is not None
    assert (removal.event, removal.id) == ("installation_repositories.removed", 3)
    assert it.repositories.removal_of(f"{NAME}/qemu") is None
    world.wait()
    world.select(number, {"qemu", "linux"})
    it = only(world.log())
    assert covered(it, "linux", "qemu", "llvm") == [True, True, False]
    assert it.repositories.removal_of(f"{NAME}/linux") is None
    assert [each.id for each in it.repositories.events()] == [2, 4]
    it = only(numbered(world.log()[::-1]))
    assert [each.id for each in it.repositories.events()] == [1, 3]


def test_selection_of_all_and_back_forgets_which_were_selected() -> None:
    world = World()
    number = world.install(chosen={"linux"})
    world.wait()
    world.select(number, None)
    it = only(world.log())
    assert covered(it, "linux", "qemu", "of-next-year") == [True, True, True]
    world.wait()
    world.select(number, {"qemu"})
    it = only(world.log())
    assert (it.repositories.selection, it.repositories.complete) == ("selected", False)
    # Two are told to be gone. Of qemu, or of any other, nobody said that it stayed.
    assert covered(it, "linux", "llvm", "qemu", "of-next-year") == [False, False, None, None]
    world.wait()
    world.select(number, {"qemu", "linux"})
    it = only(world.log())
    assert covered(it, "linux", "llvm", "qemu") == [True, False, None]


def test_a_repository_that_was_deleted_is_not_covered_though_all_are() -> None:
    world = World()
    number = world.install()
    world.wait()
    world.delete_repository("qemu")
    it = only(world.log())
    assert covered(it, "linux", "qemu") == [True, False]
    world.wait()
    world.create_repository("qemu")
    assert covered(only(world.log()), "qemu") == [True]
    world.wait()
    world.delete_repository("qemu")
    world.wait()
    world.select(number, {"linux"})
    assert covered(only(world.log()), "linux", "qemu", "llvm") == [None, False, False]


def test_what_is_told_of_a_repository_again_is_known_by_the_first_word() -> None:
    gone, there = listed({"qemu"}), listed({"linux"})
    for name in ("installation_repositories.removed", "installation.deleted"):
        log = [
            event("installation_repositories.removed", added=there, removed=gone),
            event(name, repositories=there, removed=gone),
        ]
        it = only(numbered(log))
        removal = it.repositories.removal_of("qemu")
        assert removal is not None
        assert removal.id == 1
        assert [each.id for each in it.repositories.events()] == [1]


def test_selecting_all_brings_back_what_was_removed() -> None:
    world = World()
    number = world.install(chosen={"linux", "qemu"})
    world.wait()
    world.select(number, {"linux"})
    world.wait()
    world.select(number, None)
    it = only(world.log())
    assert covered(it, "qemu") == [True]
    assert it.repositories.removed == {}


def test_an_unknown_selection_is_as_good_as_none() -> None:
    world = World()
    world.install(chosen={"linux"})
    log = [*world.log(), event("installation_repositories.added", 2, at=1, selection="most")]
    it = only(log)
    assert it.repositories.selection is None
    assert covered(it, "linux", "qemu") == [True, None]
    # What it was meanwhile, nobody knows.
    it = only([*log, event("installation_repositories.added", 3, at=2, selection="selected")])
    assert covered(it, "linux", "qemu") == [True, None]


def test_repositories_count_by_their_name_in_any_case_and_without_the_owner() -> None:
    it = only(
        [
            event("installation_repositories.added", 1, added=[{"full_name": "Rise/Linux"}]),
            event("installation_repositories.added", 2, added=[{"name": "QEMU"}]),
        ]
    )
    assert covered(it, "linux", "LINUX", "qemu") == [True, True, True]
    assert it.repositories.covers("linux") is True


def test_without_the_beginning_only_what_was_told_since_is_known() -> None:
    world = World()
    number = world.install(chosen={"linux", "llvm"})
    world.wait()
    world.select(number, {"qemu", "llvm"})
    it = only(world.log()[1:])
    assert (it.began, it.repositories.complete) == (False, False)
    assert covered(it, "qemu", "linux", "llvm") == [True, False, None]
    assert it.permissions == ASKED
