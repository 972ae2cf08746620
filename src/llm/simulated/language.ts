/**
 * The language in which an input scripts the `simulated` model. The script is the text of the last input. If none of
 * its lines starts with a directive, the model repeats the input.
 *
 * Steps are separated by a line `---` or `then:`. The first model call after the input plays the first step, the call
 * after its tool results the second, and so on. The step is the number of assistant messages since the input, so a
 * retry or a resumed run plays the same step again.
 */
import { FAILURE_CLASSES } from './script.ts';

export const LANGUAGE = `I am the simulated model: no key, no network, no intelligence. Your input is my script, one directive per line:

  say: text                   I say it. In quotes it is a JSON string: say: "two\\nlines"
  think: text                 I think it first.
  call: tool {"a": 1}         I call a tool. Several in one step run in parallel. Arguments that are not JSON are sent unchanged.
  ask: question? [yes | no]   I ask you with the tool ask_user; your answer is its result. Choices are optional.
  tokens: 500 [over 10s]      I say that many generated words, spread over the given time.
  wait: 250ms                 I pause at this point: ms, s, m or h.
  fail: class [retry-after 2s] [times 3]
                              My call fails: always, or the given number of times in a row. Earlier lines are played first.
                              Classes: ${FAILURE_CLASSES.join(', ')}.
  finish: max_tokens          Why I stopped: stop, tool_use, max_tokens, pause or other.
  help:                       I say this text.

A line "---" or "then:" ends a step: the next lines are played after the results of the step's calls. Lines that start with # are skipped.
Without any directive I repeat your input.`;
