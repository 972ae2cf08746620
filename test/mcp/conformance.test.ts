// The client scenarios of the protocol's own conformance suite, against our connection, on loopback.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';

const ROOT = join(import.meta.dirname, '../..');
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js');
const CLIENT = `${process.execPath} test/mcp/conformance-client.ts`;

describe('conformance', () => {
  test.each(['initialize', 'tools_call', 'sse-retry', 'elicitation-sep1034-client-defaults'])(
    '%s',
    async (scenario) => {
      const args = [SUITE, 'client', '--command', CLIENT, '--scenario', scenario];
      // It warns, and exits with 1, where a busy machine is a little late.
      const output = await promisify(execFile)(process.execPath, args, { cwd: ROOT }).catch(
        (error: { stdout: string; stderr: string }) => error,
      );
      expect(`${output.stdout}${output.stderr}`).toMatch(/Passed: ([1-9]\d*)\/\1, 0 failed/);
    },
  );
});
