/**
 * Sleeps. The call waits for its moment without a slot: nothing runs here, and an hour costs a row. What names no moment is
 * refused here, with what is wrong.
 */
import { LONGEST_SLEEP_S, SLEEP_UNTIL, parseSleep } from '../../core/sleep.ts';
import { jsonCopy } from '../json-copy.ts';
import { ToolFault } from '../tool-fault.ts';
import type { Tool } from '../tool.ts';
import { builtIn } from './built-in.ts';

const DESCRIPTION = `Waits, for so many seconds or until a moment (at most 30 days), and then goes on. Calls made beside it run at once.`;

const PROPERTIES = {
  seconds: { type: 'number', minimum: 0, maximum: LONGEST_SLEEP_S },
  until: { type: 'string', description: 'A time with its zone: 2026-11-20T18:30:00Z.' },
};

export function sleepUntil(): Tool {
  return builtIn({
    name: SLEEP_UNTIL,
    description: DESCRIPTION,
    properties: PROPERTIES,
    required: [],
    effect: 'none',
    answeredBy: 'timer',
    execute(input) {
      const sleep = parseSleep(jsonCopy(input), Date.now());
      throw new ToolFault('invalid_input', sleep.ok ? 'A sleep is waited for, and not run.' : sleep.problem);
    },
  });
}
