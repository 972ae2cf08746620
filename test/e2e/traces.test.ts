// One job with a child, an approval, and a SIGKILL of its worker process is one connected trace, which begins with the
// span of the client that posted it.
import { afterAll, expect, inject, test } from 'vitest';
import { startCollector, type ReceivedSpan } from '../telemetry/collector.ts';
import { killChildren } from './rig/children.ts';
import { withEnvironment } from './rig/environment.ts';
import { startApi, startWorker } from './rig/platform.ts';
import { until } from './rig/until.ts';

afterAll(killChildren);

/** API and worker processes of their own need it. */
const redis = inject('redisUrl') !== null;

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const CALLER = '00f067aa0ba902b7';
const SECRET = 'the-cat-is-called-mia';

const CHILD = `say: ${SECRET}`;
const SCRIPT = [
  `call: spawn_worker ${JSON.stringify({ name: 'helper', input: CHILD })}`,
  '---',
  `call: guard {"word": "${SECRET}"}`,
  '---',
  'wait: 6s',
  `say: ${SECRET}`,
].join('\n');

test.skipIf(!redis)(
  'a job with a child, an approval and a killed process is one trace',
  { timeout: 180_000 },
  async () => {
    await withEnvironment(async (environment) => {
      const collector = await startCollector();
      const env = {
        ...environment.env,
        OUTSIDE: environment.file('outside'),
        NIGHTSHIFT_CONFIG: 'test/e2e/outside/outside.config.ts',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      };
      const api = await startApi(env);
      const first = await startWorker(env);
      const url = `http://127.0.0.1:${api.env['PORT']}`;
      const { id: contextId } = await api.client.createContext({
        model: 'simulated/traced',
        tools: ['spawn_worker', 'guard'],
      });
      const posted = await fetch(`${url}/api/contexts/${contextId}/messages`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', traceparent: `00-${TRACE}-${CALLER}-01` },
        body: JSON.stringify({ content: SCRIPT }),
      });
      const { job_id: jobId } = (await posted.json()) as { job_id: string };
      await until('the call to wait', async () => (await api.client.approvals()).length === 1, 30);
      const named = (name: string): ReceivedSpan[] => collector.spans.filter((span) => span.name === name);
      await until('the spans of the first run', () => named('invoke_agent helper').length === 1, 30);
      const [waiting] = await api.client.approvals();
      await api.client.approve(contextId, { tool_call_id: waiting?.tool_call_id, decision: 'approve' });
      await until('the tool to end', async () => named('execute_tool guard').length === 1, 30);
      first.signal('SIGKILL');
      await first.exited;
      const second = await startWorker(env);
      expect((await api.client.ended(jobId)).status).toBe('completed');
      for (const child of [second, api.child]) {
        child.signal('SIGTERM');
        expect(await child.exited).toEqual({ code: 0, signal: null });
      }

      const trace = collector.spans.filter(({ traceId }) => traceId === TRACE);
      const ids = new Set([CALLER, ...trace.map(({ spanId }) => spanId)]);
      // Only the run that was killed has not sent its span: what ended below it has.
      const lost = new Set(trace.map(({ parentId }) => parentId).filter((id) => !ids.has(id)));
      expect(lost.size).toBeLessThanOrEqual(1);
      const [post] = named('POST /api/contexts/:id/messages');
      expect(post).toMatchObject({ traceId: TRACE, parentId: CALLER });
      const runs = trace.filter(({ name }) => name.startsWith('invoke_agent') && !name.endsWith('helper'));
      expect(runs.length).toBeGreaterThanOrEqual(2);
      expect(new Set(runs.map(({ parentId }) => parentId))).toEqual(new Set([post?.spanId]));
      const [helper] = named('invoke_agent helper');
      expect(helper?.traceId).toBe(TRACE);
      expect(runs.map(({ spanId }) => spanId)).toContain(helper?.parentId);
      expect(named('queued').filter(({ traceId }) => traceId === TRACE)).toHaveLength(2);
      expect(named('execute_tool guard')[0]?.attributes).toMatchObject({
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': 'guard',
        'gen_ai.conversation.id': contextId,
      });
      const chats = named('chat traced').filter(({ isError }) => !isError);
      expect(chats.length).toBeGreaterThanOrEqual(4);
      expect(chats.every(({ traceId }) => traceId === TRACE)).toBe(true);
      expect(chats.at(-1)?.attributes).toMatchObject({
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'simulated',
        'gen_ai.request.model': 'traced',
        'gen_ai.response.finish_reasons': ['stop'],
        'gen_ai.usage.input_tokens': expect.any(Number),
        'gen_ai.usage.output_tokens': expect.any(Number),
      });
      expect(runs.find(({ attributes }) => attributes['nightshift.job.status'] === 'completed')).toBeDefined();
      expect(collector.text()).not.toContain(SECRET);
      expect([...collector.metrics]).toEqual(
        expect.arrayContaining(['nightshift_jobs_finished_total', 'nightshift_jobs', 'nightshift_step_seconds']),
      );
      await collector.close();
    });
  },
);

test.skipIf(!redis)('a collector that is away delays no job, and is reported once', { timeout: 120_000 }, async () => {
  await withEnvironment(async (environment) => {
    const collector = await startCollector();
    await collector.close();
    const env = { ...environment.env, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_TIMEOUT: '500' };
    const api = await startApi(env);
    const worker = await startWorker(env);
    const { id } = await api.client.createContext({ model: 'simulated/away' });
    const { job_id: jobId } = await api.client.post(id, 'say: done');
    expect((await api.client.ended(jobId)).status).toBe('completed');
    await worker.says(/cannot send telemetry to OTEL_EXPORTER_OTLP_ENDPOINT/);
    for (const child of [worker, api.child]) {
      const began = performance.now();
      child.signal('SIGTERM');
      expect(await child.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - began).toBeLessThan(10_000);
    }
    const warnings = worker.lines.filter((line) => line.includes('cannot send telemetry') && line.includes('traces'));
    expect(warnings).toHaveLength(1);
  });
});
