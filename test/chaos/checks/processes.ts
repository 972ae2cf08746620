// Processes end on request only, log no unexplained errors, and give no answer that a client should not see.
import type { Check } from '../world/world.ts';
import { reporter } from './violation.ts';

const violation = reporter('processes');

export const processes: Check = {
  name: 'processes',
  find({ incidents, odd }) {
    return [
      ...incidents.map(({ process, what, lines }) => violation(`${process} ${what}`, null, ...lines)),
      ...odd.map(({ request, status, body }) =>
        violation(`${request} was answered ${status}`, null, body.slice(0, 500)),
      ),
    ];
  },
};
