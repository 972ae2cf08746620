// Which test files the gate may repeat once, and why. A test of several processes, of a browser or of real time can
// fail for a reason of the machine; any other test that fails sometimes has a fault, and a failure of it counts.

/** A folder ends in a slash and means all test files below it. The value names what in it cannot be controlled. */
export const REPEATABLE: Readonly<Record<string, string>> = {
  'test/cli/': 'several processes: the command line as people start it',
  'test/console/': 'a browser',
  'test/dev/': 'several processes: embedded services and the processes that watch them',
  'test/e2e/': 'several processes: the platform, its services, clients',
  'test/events/': 'real time: streams, heartbeats and Redis outages over sockets',
  'test/mcp/': 'several processes: MCP servers',
  'test/services/own-services.test.ts': 'several processes: services of the tests themselves',
  'test/tools/escapes-command.test.ts': 'several processes: commands and what they start',
  'test/workers/': 'real time: heartbeats, leases and sweeps of running worker processes',
};

/** Folders whose tests run once, whatever the list above says. */
export const NEVER_REPEATED = ['test/agent/', 'test/api/', 'test/core/', 'test/db/', 'test/llm/'];

export function isRepeatable(file: string): boolean {
  return Object.keys(REPEATABLE).some((place) =>
    place.endsWith('/') ? file.startsWith(place) : file === place,
  );
}
