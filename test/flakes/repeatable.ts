// Which test files the gate may repeat once, and why. A test that uses several processes, a browser or real time can fail
// because the machine was slow. Any other test that fails sometimes has a bug, so its failure fails the gate.

/** A key that ends in a slash is a folder with all test files below it. The value says what makes these tests flaky. */
export const REPEATABLE: Readonly<Record<string, string>> = {
  'test/cli/': 'several processes: the command line',
  'test/console/': 'a browser',
  'test/dev/': 'several processes: embedded services and their watchers',
  'test/embed/': 'real time: workers and streams within the test process, and processes that must end by themselves',
  'test/e2e/': 'several processes: the platform, its services, clients',
  'test/events/': 'real time: streams, heartbeats and Redis outages over sockets',
  'test/mcp/': 'several processes: MCP servers',
  'test/package/': 'several processes: the installed package, its servers and commands',
  'test/services/own-services.test.ts': 'several processes: PostgreSQL and Redis started by the tests',
  'test/tools/escapes-command.test.ts': 'several processes: commands and their child processes',
  'test/workers/': 'real time: heartbeats, leases and sweeps of running worker processes',
};

/** Folders that must not appear in the list above. A test checks this. */
export const NEVER_REPEATED = ['test/agent/', 'test/api/', 'test/core/', 'test/db/', 'test/llm/'];

export function isRepeatable(file: string): boolean {
  return Object.keys(REPEATABLE).some((place) => (place.endsWith('/') ? file.startsWith(place) : file === place));
}
