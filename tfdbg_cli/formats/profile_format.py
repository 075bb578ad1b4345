"""The format of TensorFlow's profiles: a file for each host, and the log directories in which they lie."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdbg_cli.errors import TfdbgError
from tfdbg_cli.formats.recording.format import Examination, Format, NamedPath, RunsOnDisk
from tfdbg_cli.formats.recording.saved_runs import Glance, SavedRecording, SavedRuns

if TYPE_CHECKING:
    from tfdbg_cli.formats.profiles.profile_files import ProfileFile

_ENDING = ".xplane.pb"
_PLUGINS, _PROFILE = "plugins", "profile"
_MOST_EXAMINED = 20
_AGAIN = "What can be read is shown. Copy the file again."


def _is_profile(place: NamedPath) -> bool:
    if place.is_file:
        if place.path.name.endswith(_ENDING):
            return True
        from tfdbg_cli.formats.profiles.first_bytes import begins_as_profile  # few files come here

        return begins_as_profile(place.path)
    from tfdbg_cli.formats.profiles.profile_files import profiles_in

    return next(profiles_in(place), None) is not None


def _files(place: NamedPath) -> list[ProfileFile]:
    from tfdbg_cli.formats.profiles.profile_files import profiles_at  # what reads a format is loaded for it only

    return profiles_at(place)


def _open(place: NamedPath) -> RunsOnDisk:
    from tfdbg_cli.formats.profiles.profile_run import profile_call, profile_run
    from tfdbg_cli.model.runs import RunOutline

    keys = list(enumerate(_files(place), 1))
    glance = Glance[tuple[int, "ProfileFile"]](
        lambda key: 0, lambda key: key[0], lambda key: RunOutline(profile_call(*key), None, cut_off=False)
    )
    runs = SavedRuns(keys, lambda key: profile_run(*key), glance)
    if len(runs) == 1:
        runs[0]  # it is looked at anyway; who opens it is told when that takes its time
    return SavedRecording(runs)


def _examine(place: NamedPath) -> Examination:
    """All that is in the profiles, each read once."""
    from tfdbg_cli.formats.profiles.profile_run import read_profile, told

    files = _files(place)
    facts: list[str] = []
    troubles: list[tuple[str, str]] = []
    for file in files[:_MOST_EXAMINED]:
        try:
            found, damages = read_profile(file)
        except TfdbgError as error:
            troubles.append((error.message, error.hint))
            continue
        facts += [f"{file.title}:", *told(found)]
        troubles += [(text, _AGAIN) for text in damages]
    if len(files) > _MOST_EXAMINED:
        facts.append(f"{len(files) - _MOST_EXAMINED:,} more profiles.")
    what = "profiles of TensorFlow" if len(files) > 1 else "a profile of TensorFlow"
    return Examination(what, tuple(facts), tuple(troubles))


def note_beside(place: NamedPath) -> str:
    """Of a folder that is something else: where the profiles in it are; empty where there are none."""
    if _PLUGINS not in place.names:
        return ""
    profiles = NamedPath(place.path / _PLUGINS / _PROFILE)
    return f"There are profiles, too: `tfdbg open {profiles.path}`." if profiles.folders else ""


PROFILES = Format(
    "a profile of TensorFlow (NAME.xplane.pb, or the log directory)",
    _is_profile,
    _open,
    examine=_examine,
    noun="profile",
)
