/**
 * The language in which an input scripts the `simulated` model. The script is the text of the last input; where none of
 * its lines begins with a word of the language, the model says what it was told.
 *
 * Steps are told apart by a line `---` or `then:`. The first model call after the input plays the first step, the call
 * after its tool results the second, and so on: the number of assistant messages since the input says which, so that a
 * retry and a resumed run play the same step again.
 */
import { FAILURE_CLASSES } from './failure-classes.ts';

export const LANGUAGE = `I am the simulated model: no key, no network, no intelligence. Your input is my script, one directive a line:

  say: text                   I say it. In quotes it is a JSON string: say: "two\\nlines"
  think: text                 I think it first.
  call: tool {"a": 1}         I call a tool. Several in one step run in parallel. Arguments that are no JSON are sent as they stand.
  ask: question? [yes | no]   I ask you, with the tool ask_user; what you answer is its result. Choices may be left out.
  tokens: 500 [over 10s]      I say that many made-up words, spread over the time.
  wait: 250ms                 I pause where the line stands: ms, s, m or h.
  fail: class [retry-after 2s] [times 3]
                              My call fails: always, or so often in a row. Lines before it are played first.
                              Classes: ${FAILURE_CLASSES.join(', ')}.
  finish: max_tokens          Why I stopped: stop, tool_use, max_tokens, pause or other.
  help:                       I say this.

A line "---" or "then:" ends a step: what follows is played once the calls of the step were answered. Lines that begin with # are skipped.
Without any directive I repeat what you said.`;
