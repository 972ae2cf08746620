/** For the operator: why an MCP server last failed and what to do, and its figures, of the live worker processes. */
import type { McpServerFailure, McpServerInfo } from 'nightshift/client';
import { classes } from '../../../ui/classes.ts';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { RelativeTime, formatDuration } from '../../../ui/text/time.tsx';
import { mcpServerWords as words } from '../../../words.ts';
import figures from '../figures.module.css';
import css from './server-health.module.css';

export function ServerHealth({ server }: { server: McpServerInfo }) {
  const { name, state, last_failure: failure, restarts, calls, latency_ms: latency } = server;
  if (restarts === null || calls === null) return null;
  return (
    <div className={css.health}>
      {failure !== null && <Failure failure={failure} isDown={state === 'down'} />}
      <dl className={figures.figures} aria-label={words.figures(name)}>
        <div>
          <dt>{words.restarts}</dt>
          <dd>{restarts}</dd>
        </div>
        <div>
          <dt>{words.calls}</dt>
          <dd>{words.callsBy(calls)}</dd>
        </div>
        <div>
          <dt>{words.latency}</dt>
          <dd>
            {latency === null
              ? words.noLatency
              : words.quantiles(formatDuration(latency.p50), formatDuration(latency.p95))}
          </dd>
        </div>
      </dl>
    </div>
  );
}

/** A server that is up again has its last failure, too. */
function Failure({ failure, isDown }: { failure: McpServerFailure; isDown: boolean }) {
  const { what, todo } = words.failures[failure.reason](failure.code);
  return (
    <div className={classes(css.failure, isDown && css.isDown)}>
      <p className={css.head}>
        <span className={css.label}>{words.lastFailure}</span> <strong>{what}</strong>{' '}
        <span className={css.where}>
          <Sentence text={words.where} gaps={{ when: <RelativeTime at={failure.at} />, host: failure.host }} />
        </span>
      </p>
      <p>{todo}</p>
    </div>
  );
}
