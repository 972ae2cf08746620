/**
 * Sleeps. The platform ends the call at the given time; a sleeping call uses no slot. Input without a valid time is
 * refused here, with the reason.
 */
import { LONGEST_SLEEP_S, SLEEP_UNTIL, parseSleep } from '../../core/run/sleep.ts';
import { jsonCopy } from '../run/json-copy.ts';
import { ToolFault } from '../run/tool-fault.ts';
import type { Tool } from '../registry/tool.ts';
import { builtIn } from './built-in.ts';

const DESCRIPTION = `Waits for a number of seconds or until a time, at most 30 days. Other calls in the same answer run immediately.`;

const PROPERTIES = {
  seconds: { type: 'number', minimum: 0, maximum: LONGEST_SLEEP_S },
  until: { type: 'string', description: 'A timestamp with time zone: 2026-11-20T18:30:00Z.' },
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
      throw new ToolFault(
        'invalid_input',
        sleep.ok ? 'sleep_until is ended by a timer and cannot be executed.' : sleep.problem,
      );
    },
  });
}
