"""The page of commands, docs/commands.md: `python -m tfdbg_cli.commands.manual > docs/commands.md`."""

from __future__ import annotations

import sys

from tfdbg_cli.commands.command_help import argument_help, argument_names, sections
from tfdbg_cli.commands.registry import WITH_TENSORS, Command, Moment, Registry
from tfdbg_cli.commands.standard import standard_registry

_INTRODUCTION = """\
# Commands

<!-- Made by `python -m tfdbg_cli.commands.manual`; change the commands, not this page. -->

Type these at the prompt, after `:` in the full-screen front end, after `-c` on the command line, or into a pipe.

- Quotes hold blanks and `>`; two of them inside stand for one. Backticks and brackets hold blanks too.
- `COMMAND > FILE` writes the screen to a new file as plain text, `COMMAND >| FILE` also to one that is there.
- Regexes search anywhere in a name.
- Names of tensors are `node:slot`; the node alone will do if it has one output.
"""

_JSON = """\
## JSON

With `--json` each command prints one object on a line: `{"command": …, "kind": …, …}`, or
`{"command": …, "error": …, "hint": …}`. NaN and infinities are the texts `"nan"`, `"inf"` and `"-inf"`; a complex
number is a pair; strings are decoded as UTF-8. More fields than these may come; these stay.

- `lt`: kind `tensors`. `tensors`, a list of *tensor*, each with `summary` under `--stats` or `-f`, and `lack`
  where there is none (`damaged`, `gone`, `uninitialized`, `opaque`, `unknown dtype`); `total`, `filter`;
  `raised` when the filter raised, `unread` when values could not be read, or a query could not judge rows for what
  was not recorded (in other lists, too), `query` under `-q` (in every other list, too).
- `frequencies`: kind `frequencies`. `column`, `query`, `values`: `[{value, tensors, nbytes}]`; an empty `value` is
  that of tensors without one.
- `layers`: kind `layers`. `layers`: `[{name, tensors, nbytes, forward, gradient, update}]`, with `nonfinite` (a count
  of elements; null where a recording does not tell it) under `--stats`; all levels, whatever `-d` shows.
- `tree`: kind `tree`. `scope`, `rows`: `[{name, node, scope, folded, nodes, tensors}]`, those that are shown;
  `folded` is null of what is no scope.
- `lv`: kind `variables`. `variables`: `[{name, dtype, shape, nbytes, elements, trainable, initialized, read, written,
  device, layer, op_type, slot_of, key, full_name, tensor, value_of, summary}]`, null where it is not known. `read`
  and `written` say whether the run does that, `slot_of` of which variable an optimizer keeps it, `key` what a
  checkpoint calls it, `tensor` which one holds its value, `value_of` when that was: `updated` (as the run left it),
  `read`, `given` (before the run) or `saved`; `summary` with `--stats` or `-f`. Of all variables `total`, `elements`,
  `nbytes`, `trainable` (these three of those that are) and `near_duplicates`: `[[name, other]]`; with `-f` as `lt`
  `filter`, `raised`, `unread`.
- `pt`: kind `tensor`. The fields of *tensor*; `summary`, `value` and `elided` of what is shown; `slice` and
  `highlighted` if asked for; `lack` where there is no array. Of several executions (without `-n`, with `-n 2:5` or
  `-n all`): as `lt`, with `summary`; `value` and `elided` too if `-n` asked for them or each is a single number.
  `written` is the file that `-w` has written, of `pt`, `pf` and `eval`.
- `preview`: kind `preview`. `previewed` (a name, a path, `batch` or `row N`); of a tensor `tensor`, `inputs` and
  `outputs` (*tensors* with `summary`) and `made_at`: `{file, line, function}` or null; of a part `slice`; of a feed
  `dtype` and `shape`; of a source `line` and `lines`; of `origin` `rows` and `size`; of a row `bad` and `size`.
- `pf`: kind `feed`. `name`, `dtype`, `shape`, `nbytes`, `summary`, `value`, `elided`; a sparse feed also `sparse`,
  `indices`, `dense_shape`.
- `eval`: kind `value`. `expression`, `dtype`, `shape`, `nbytes`, `summary`, `value`, `elided`.
- `ni`: kind `node`. `name`, `op_type`, `device`, `inputs`, `control_inputs`, `outputs`, `control_outputs`,
  `traceback`: `[{file, line, function, text}]`, `forward` (the op whose gradient it is, or null); of a condition that
  ran `taken` (how often each branch), `chosen_by`.
- `origin`: kind `origin`. `tensor`, `execution`, `op_type`, `device`, `file`, `line`, `inputs`, `elements`:
  `[{index, value, inputs}]`, `batch_rows`, `batch` (`source`, `size`, and `lookup` where rows are looked up:
  `looked_in`, `indices`, `is_table`; and `doubtful`, rows that may have done no harm), `cause`, `suggestion`,
  `unread` (how many tensors could not be read);
  `tensor` is null when all is finite.
- `path`: kind `path`. `from`, `to`, `found`, `unknown` (where no way is found the nodes into which something flows
  along an edge that is not recorded), `turned`, `between` (how many nodes lie on any way), `nodes`:
  `[{name, op_type, device, tensor, summary}]`.
- `diff` and `tfdbg diff`: kind `diff`. `first` (null when nothing diverges): `a`, `b`, `execution`, `file_a`,
  `line_a`, `file_b`, `line_b`, `max_abs`, `max_rel`, `max_ulp` (null for integers and texts), `op_type`,
  `device_a`, `device_b`, `is`, `change`, `differing`, `size`, `inputs`; the counts `different` and `equal` (all
  others that were compared, of which `rounding` and `grown` are not the same to the last bit, and `zeros` are but for
  the sign of zeros), `other_way`,
  `unknown`; the names `only_a` and `only_b`; `pairs`, the worst first, with the fields of `first` but for files,
  lines and inputs; `growth`, `precision`, `run_a`, `run_b`, `runs_compared`, `runs_paired`, `runs_single`,
  `runs_untold` (pairs of which nothing could be compared), `damaged` (the names of tensors that cannot be read in
  `runs_damaged`, the numbers of runs), `unused_map_lines`, and under `--graphs` `graphs`:
  `[{what, a, b, op_type, text}]`.
- `placement`: kind `placement`. `devices`: `[{device, ops, tensors, nbytes}]`, `copies`:
  `[{tensor, from, to, nbytes}]`, `fallbacks`: `[{node, op_type, requested, device}]`; `known`: `runtime` (its graph
  names the devices), `values` (the values lie there) or `requested` (only what the program asked for is known).
- `ri`: kind `run_info`. `number`, `call`, `title`, `fetches`, `targets`, `feeds`, `thread`, `graph`, `nodes`,
  `notes`, `estimate`, `filters`; of a function `function` (its name) and `arguments`:
  `[{name, dtype, shape, captured}]`, `captured` being true for variables and other tensors from around it. After
  a run `results`: `[{name, tensor, value}]`, the single numbers that came back; `name` is null where there is none.
- `runs`: kind `runs`. `path` (null at a stop), `current`, `notes`, `runs`: `[{number, run, title, tensors, error,
  cut_off, notes, results}]`; `number` counts here from 1, `run` is the number in the program, `results` are as above,
  null of a run that is far away or behind the first 1,000.
- `history`: kind `history`. `tensor`, `statistic`, `above`, `first_above` (a number in the program), `without` and
  `unreadable` (how many runs), `points`: `[{run, place, value, summary, executions}]`.
- `trends`: kind `trends`. `series`: `[{name, quantity, steps, values}]`; `quantity` is gradient, weight or update,
  `steps` the numbers of the runs in the program. `untold`: of how many gradients no norm is known.
- `tfdbg checkpoint`: kind `checkpoint`, `path` and `notes`. Of one: `checkpoint`, `variables` as those of `lv` with
  `summary` and `lost` (why it cannot be read, or null), the sums of `lv`; `nonfinite` and `all_zero` (names),
  `lost`: `[{name, text}]`, `damages` (of the index). Of two: `other`, `of` (what the second is), `same`, `equal`,
  `variables` (the pairs): `[{a, b, equal}]`, `values_compared`, `unread`, `different`: `[{a, b, change, dtype_a,
  dtype_b, shape_a, shape_b, nan_a, nan_b, zeros, size, differing, nonfinite, max_abs, max_rel, max_ulp}]`, where
  `change` is `shape`, `dtype` or `values`, and `zeros` of the `differing` elements are 0 in one and -0 in the other;
  `only_a` and `only_b`: `[{name, dtype, shape, nbytes, slot_of, key, full_name, suggestion, same_values}]`. With
  `--against`: `against`, `moment` (when the program was asked), `paired_by` (`objects` or `names`), `root` (what the
  tf.train.Checkpoint that is taken calls its children, or null), `same`, `variables` (those of the program, as in
  `only_a` with `filled`, `saved`, `saved_dtype`, `saved_shape`), `not_filled`, `misfits`, `elsewhere` and `outside`
  (names; another tf.train.Checkpoint leads to those, or none), `not_taken` (as `only_a`).
- `traces`: kind `traces`. `functions`: `[{name, file, line, traces: [{signature, count, seconds, cause, differences,
  file, line}], left_out, advice: [{argument, text}]}]`; `cause` is `{argument, old, new}`, the first of `differences`
  from the nearest earlier trace, null of the first one; `count` is how often it was called, `file` and `line` the
  call that made it. `seconds`, `file` and `line` are null of a trace that tfdbg did not see being made. `traces`,
  `retraces` and `seconds` beside `functions` are those of all.
- `alerts`: kind `alerts`. `alerts`: `[{rule, run, place, tensor, file, line, text, execution, op_type, nan, neg_inf,
  pos_inf, size}]`, where `run` is the `run` of `runs`, and `place` its `number`; `more` (whether there are others),
  `tensors` (how many were looked at), `unknown`, `damaged` (how many of these), `unreadable` (how many runs). What
  rules have found in other runs has `runs` (in how many of those judged) and `last_run` in place of the counts.
- `timeline`: kind `timeline`. `total`, `begin`, `executions`: `[{number, run, place, op_type, node, is_call, time_us,
  outputs, nonfinite, file, line}]`, `run` and `place` as in `alerts`.
- `origin --all`: kind `origins`. `tensors`, as those of `origin`; `executions`, which one of its name each is, from 0
  (null for what no tensor shows); `unread` where some could not be read, `ignored` (nodes) where some count as fine,
  `missing` where no value was recorded.
- `row`: kind `row`. `row`, `bad`, `size`, `bad_rows`, `replica` (of a mirrored step the one whose batch this is, from
  0; else null), `sample` (null where it is not known), `components`: `[{name, role, key, dtype, shape, image,
  summary, value, elided}]`.
- `input`: kind `input`. `size`, `source`, `rows`: `[{row, bad, file, record, key, alike}]`; `file` is null for data
  in memory, `record` (from 0) where it is not known, `alike` is how many hold the same; `notes` say how, or why not.
- `find`: kind `found`. `text`, `names`, `total`, `hits`: `[{kind, name, command, places, op_type, health}]`.
- `ln`: kind `nodes`. `graph`, `total`, `nodes`: `[{name, op_type, device, inputs, control_inputs}]`.
- `li`, `lo`: kind `neighbours`. `name`, `direction`, `max_depth`, `nodes`: `[{depth, name, op_type, control,
  repeated, cut}]`.
- `ls`: kind `sources`. `files`: `[{path, nodes, tensors, dumps, first_line, library}]`.
- `ps`: kind `source`. `path`, `line`, `lines`: `[{line, text, made}]`.
- `lp`: kind `profile`. `devices`: `[{device, op_us, exec_us, executions}]`, `executions`: `[{node, op_type,
  start_us, op_us, exec_us, file, line, function}]`, times in microseconds. With `--by`: `by` and `groups`: `[{name,
  nodes, executions, op_us, exec_us, share}]`, the longest first, of lines with `file` and `line`.
- `ei`: kind `error`. `type`, `message`, `node`, `op_type`, `device`, `file`, `line`, `inputs`, `note`, `causes`.
- `here`: kind `here`. `node`, `op_type`, `why`, `file`, `line`, `function`, `inputs`, `outputs`.
- `frames`: kind `frames`. `frames`: `[{file, line, function, text}]`, outermost first; `current`. `locals`: kind
  `locals`. `frame`, `file`, `line`, `function`, `text`, `locals`: `{name: {type, value}}`. `py`: kind `python`.
  `value`, a text.
- `break`, `delete`: kind `breakpoints`. `breakpoints`: `[{number, place}]`.
- `set`, `unset`: kind `replaced`. `tensors`: `[{name, dtype, summary}]`; of a value that the program itself is
  given kind `set_live`, with these fields. `again`: kind `again`. `title`, `replaced`, `recomputed`, `notes`,
  `first`, `pairs`, as those of `diff`. `undo`: kind `undo`. `run`, `not_undone`.
- `invoke_stepper`, and in the stepper `lt`: kind `sorted_nodes`. `next`, `count`, `notes`, `nodes`:
  `[{index, name, op_type, letters}]`.
- In the stepper `step` and its like: kind `stepped`. `target`, `computed`, `used`, `updated`, `outputs`, `next`,
  `problem`. `inject_value`: kind `injected`. `name`, `dtype`, `summary`. `pt` of a variable: kind `variable`.
  `variable`, `captured`.
- `ignore`: kind `ignore`, and `ignored`: kind `ignored`. `ignored`: `[{number, by, name, run, function, tensor,
  op_type, holds, intended, why, nodes, named, spoiled, file, line}]`, of which `ignore` gives one.
- `save`: kind `save`. `path`, `runs`, `notes`. `bundle`: kind `bundle`. `path`, `repeatable`, `notes`. `export`:
  kind `export`. `path`, `tensors`, `notes`. A command with `> FILE`: kind `written`. `path`, `bytes`.
- `help`: kind `help`. `commands`: `[{name, aliases, section, summary, usage}]`, or of one command these fields,
  `arguments` and `details`.
- `filters`: kind `filters`. `filters`: `[{name, number, meaning, built_in, checked_inside}]`.
- `messages`: kind `messages`. `messages`: `[{time, text, error, times}]`, `time` in seconds since 1970.
- `queries`: kind `queries`. `queries` (texts by name), `path`.
- `config`: kind `config`. `settings`, `path`.
- `version`: kind `version`. `tfdbg`, `tensorflow`, `numpy`, `python`.

A *tensor* is `name`, `node`, `slot`, `device`, `op_type`, `dtype`, `shape`, `nbytes`, `execution`, `t_ms`, `role`.
`shape` and `nbytes` are null where they cannot be known. `t_ms` counts from the first tensor of the run. It is there
where TensorFlow dumps tensors as they are made: in dumps, in event sets of Debugger V2, in runs of sessions that show
the graph of the runtime (`run --graph runtime`), and in recordings of those. It is null where the values are results
of the run, which have no times: of functions, Keras, eager code, and of sessions else; `run -p` and `lp` tell times
there. `role` is `forward`, `gradient` or `update`, and null for the shapes and constants of a backward pass.

A *summary* is `size`, `nan`, `neg_inf`, `pos_inf`, `neg`, `zero`, `pos`, `min`, `max`, `mean`, `std`; the last four
are over the finite elements and null where there are none; `min` and `max` of integers are integers, exact, but where
a recording has statistics alone. For booleans `zero` counts False and `pos` True; for complex numbers min, max, mean
and std are those of the magnitude. Of a recording without values what it does not tell is null.

A `value` is nested lists. Above the threshold of elements (setting `array_threshold`, flag `--threshold`, none with
`-a`) each long axis keeps its first and last elements (`--edgeitems`) with the text `"..."` between, and `elided` is
true.
"""


def manual(registry: Registry) -> str:
    """The whole page in Markdown."""
    parts = [_INTRODUCTION]
    for heading, commands in sections(registry).items():
        parts.append(f"## {heading}\n")
        parts += [_entry(command) for command in commands]
    return "\n".join([*parts, _JSON])


def _entry(command: Command) -> str:
    names = ", ".join(f"`{name}`" for name in (command.name, *command.aliases))
    rows = [f"### {names}\n", f"{command.summary} {_where(command)}".strip() + "\n", f"    {command.usage}\n"]
    if command.arguments:
        rows.append("| argument | meaning |\n|---|---|")
        rows += [f"| `{_cell(argument_names(a))}` | {_cell(argument_help(a))} |" for a in command.arguments]
        rows.append("")
    if command.details:
        text, _, examples = command.details.partition("Examples:\n")
        rows += [text.strip() + "\n"] if text.strip() else []
        rows += (
            ["```\n" + "\n".join(row.strip() for row in examples.rstrip().split("\n")) + "\n```\n"]
            if examples
            else []
        )
    return "\n".join(rows)


def _where(command: Command) -> str:
    if command.moments == frozenset(Moment):
        return ""
    if command.moments == WITH_TENSORS:
        return "*After a run, and on recordings.*"
    if command.moments == frozenset({Moment.OPENED}):
        return "*On recordings.*"
    return "*While the program runs.*"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    sys.stdout.write(manual(standard_registry()))
