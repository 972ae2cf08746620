// Each step of a completed call ran at least once, and its call always got the result that is stored. An execution that
// began after a result was stored does not run the step again.
import { STEPS, TOUR_LINES } from '../service-tools.ts';
import type { Check, Violation } from '../world/world.ts';
import type { TourCall } from '../world/service.ts';
import { reporter } from './violation.ts';

const violation = reporter('steps');

export const steps: Check = {
  name: 'steps',
  find({ service: { tours } }) {
    const isDone = tours.some(({ status }) => status === 'completed');
    return [...(isDone ? [] : [violation('no call with steps completed', null)]), ...tours.flatMap(callFaults)];
  },
};

function callFaults(call: TourCall): Violation[] {
  return STEPS.flatMap((step) => stepFaults(call, step).map((what) => violation(what, call.contextId, call.id)));
}

function stepFaults({ status, lines, stored }: TourCall, step: string): string[] {
  const runs = lines.map(runIn);
  const ran = runs.filter((run, at) => lines[at] === TOUR_LINES.ran(step, run));
  const firstGot = lines.findIndex((line, at) => isGot(line, step, runs[at] ?? ''));
  const value = stored[step];
  const again = ran.filter((run) => firstGot !== -1 && lines.indexOf(TOUR_LINES.begin(run)) > firstGot);
  const others = lines.filter(
    (line, at) => isGot(line, step, runs[at] ?? '') && line !== TOUR_LINES.got(step, runs[at] ?? '', value ?? ''),
  );
  return [
    ...(status === 'completed' && value === undefined ? [`the call completed, and ${step} has no stored result`] : []),
    ...(value !== undefined && !ran.includes(value) ? [`the stored result of ${step} is of no execution`] : []),
    ...again.map(() => `${step} ran again although its result was stored`),
    ...others.map(() => `the call got another result of ${step} than is stored`),
  ];
}

function isGot(line: string, step: string, run: string): boolean {
  return line.startsWith(TOUR_LINES.got(step, run, ''));
}

/** The execution of a line. */
function runIn(line: string): string {
  return line.split(':')[1] ?? '';
}
