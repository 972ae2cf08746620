/** A run in memory has no other workers: a call that needs one gets an error, unless the test has a stand-in for it. */
import type { Team } from '../../agent/calls/team.ts';
import { errorResult } from '../../workers/run/team-results.ts';

export const NO_TEAM: Team = {
  arrange: async (_snapshot, _job, _settings, asking) =>
    asking.map(({ call }) => {
      const message = `A test runs one worker. Give a stand-in for the tool: standIns: { ${call.name}: (input) => … }.`;
      return { kind: 'answered', call, result: errorResult('unavailable', message) };
    }),
  recount: async () => false,
  outcomes: async () => new Map(),
};
