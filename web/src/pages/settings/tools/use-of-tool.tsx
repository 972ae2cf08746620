/** What the tenant used of a tool: how its calls ended, codes of failures, durations, and links to the last failures. */
import { Link } from '@tanstack/react-router';
import type { ToolUse } from 'nightshift/client';
import { Sentence } from '../../../ui/text/sentence.tsx';
import { RelativeTime, formatDuration } from '../../../ui/text/time.tsx';
import { toolCatalogueWords } from '../../../words.ts';
import settingsCss from '../settings.module.css';
import figures from '../figures.module.css';
import css from './tools.module.css';

const words = toolCatalogueWords.tool;
const ENDS = ['completed', 'failed', 'denied', 'expired', 'unknown'] as const;

export function UseOfTool({ use }: { use: ToolUse | null }) {
  if (use === null) return <p className={settingsCss.about}>{words.unused}</p>;
  const codes = Object.entries(use.codes).toSorted(([a, n], [b, m]) => m - n || (a < b ? -1 : 1));
  const { duration_ms: ms, failures } = use;
  return (
    <>
      <dl className={figures.figures} aria-label={words.use}>
        <Figure name={words.calls} value={use.calls} />
        {ENDS.filter((end) => use[end] > 0).map((end) => (
          <Figure key={end} name={words.ended[end]} value={use[end]} isBad={end === 'failed'} />
        ))}
        <div>
          <dt>{words.last}</dt>
          <dd>
            <RelativeTime at={use.last_called_at} />
          </dd>
        </div>
      </dl>
      {ms !== null && (
        <p className={settingsCss.about}>
          {words.duration}:{' '}
          <Sentence text={words.durationAbout} gaps={{ p50: formatDuration(ms.p50), p95: formatDuration(ms.p95) }} />
        </p>
      )}
      {codes.length > 0 && (
        <>
          <h4>{words.codes}</h4>
          <dl className={settingsCss.facts} aria-label={words.codes}>
            {codes.map(([code, number]) => (
              <div key={code}>
                <dt>
                  <code>{code}</code>
                </dt>
                <dd>{number.toLocaleString('en')}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {failures.length > 0 && (
        <>
          <h4>{words.failures}</h4>
          <ul className={css.failures} aria-label={words.failures}>
            {failures.map(({ at, code, job_id: jobId, tool_call_id: id }) => (
              <li key={id}>
                <code>{code}</code> <RelativeTime at={at} />{' '}
                <Link to="/jobs/$jobId" params={{ jobId }} search={{ tab: 'timeline' }}>
                  {words.timeline}
                </Link>
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function Figure({ name, value, isBad = false }: { name: string; value: number; isBad?: boolean }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={isBad ? css.failed : undefined}>{value.toLocaleString('en')}</dd>
    </div>
  );
}
