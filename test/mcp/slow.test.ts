// A server that starts slowly: the worker process does not wait for it, the job does.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openMcpPlatform, resultsOf } from './mcp-platform.ts';

/** The scripted server, which starts once there is a file `go`. */
const late = (folder: string) => {
  const server = JSON.stringify(join(import.meta.dirname, 'scripted-server.ts'));
  const go = JSON.stringify(join(folder, 'go'));
  const program = `
    process.argv[2] = ${JSON.stringify(folder)};
    const look = () => require('node:fs').existsSync(${go}) ? import(${server}) : setTimeout(look, 50);
    look();`;
  return { command: process.execPath, args: ['-e', program, 'x'], start_timeout_ms: 60_000 };
};

test('a job waits for its server, and no other job does', async () => {
  const platform = await openMcpPlatform((folder) => ({ late: late(folder) }));
  try {
    const { client } = platform;
    const waiting = await client.createContext({ model: 'simulated/default', mcp_servers: ['late'] });
    const first = await client.post(waiting.id, 'call: late__echo {"text": "here"}\nthen:\nsay: done');
    const other = await client.createContext({ model: 'simulated/default' });
    const second = await client.post(other.id, 'say: done');
    expect(await client.ended(second.job_id)).toMatchObject({ status: 'completed' });
    expect(await client.job(first.job_id)).toMatchObject({ status: 'queued' });
    await writeFile(join(platform.folder, 'go'), '');
    expect(await client.ended(first.job_id)).toMatchObject({ status: 'completed' });
    expect(await resultsOf(client, waiting.id)).toEqual(['here']);
  } finally {
    await platform.close();
  }
});
