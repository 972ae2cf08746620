// Processes end on request only, log no unexplained errors, and give no answer that a client should not see.
import type { Check } from '../world/world.ts';
import { sayer } from './violation.ts';

const says = sayer('processes');

export const processes: Check = {
  name: 'processes',
  find({ incidents, odd }) {
    return [
      ...incidents.map(({ process, what, lines }) => says(`${process} ${what}`, null, ...lines)),
      ...odd.map(({ request, status, body }) =>
        says(`${request} was answered ${status}`, null, body.slice(0, 500)),
      ),
    ];
  },
};
