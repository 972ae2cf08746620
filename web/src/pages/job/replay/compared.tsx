/** One of two jobs that are compared: what it was run with, what it took and cost, and its output. */
import { Link } from '@tanstack/react-router';
import { isFinished, type Job } from 'nightshift/client';
import { shortId } from '../../../data/format.ts';
import { Card } from '../../../ui/layout/card.tsx';
import { formatCost } from '../../../ui/text/cost.ts';
import { JsonTree } from '../../../ui/text/json-tree.tsx';
import { Markdown } from '../../../ui/text/markdown.tsx';
import { StatusBadge } from '../../../ui/text/status-badge.tsx';
import { Duration } from '../../../ui/text/time.tsx';
import { Tokens } from '../../../ui/text/tokens.tsx';
import { jobWords, timelineWords } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';
import { Models } from '../models.tsx';
import styles from './replay.module.css';

const words = jobWords.compare;
const { facts, overview } = jobWords;

export function Compared({ job, title }: { job: Job; title: string }) {
  const { cost, ...tokens } = job.usage;
  return (
    <Card title={title} actions={<StatusBadge status={job.status} />} className={styles.part}>
      <div className={css.stack}>
        <dl className={css.facts}>
          <Fact name={words.job}>
            <Link to="/jobs/$jobId" params={{ jobId: job.id }}>
              {timelineWords.title(shortId(job.id))}
            </Link>
          </Fact>
          <Models job={job} />
          <Fact name={facts.duration}>
            <Duration from={job.starts_at ?? job.created_at} to={job.finished_at} />
          </Fact>
          <Fact name={overview.cost}>
            {cost === null ? words.noPrice : <span title={`$${cost}`}>{formatCost(cost)}</span>}
          </Fact>
          <Fact name={facts.modelCalls}>{job.steps}</Fact>
          <Fact name={facts.tokens}>
            <Tokens usage={tokens} />
          </Fact>
        </dl>
        {job.error !== null && (
          <p className={css.failed}>
            {job.error.message} (<code>{job.error.code}</code>)
          </p>
        )}
        {job.status === 'waiting' && (
          <p className={css.soft}>
            {words.waits}{' '}
            <Link to="/contexts/$contextId" params={{ contextId: job.context_id }}>
              {words.answer}
            </Link>
          </p>
        )}
        <Output job={job} />
      </div>
    </Card>
  );
}

function Output({ job }: { job: Job }) {
  const { output } = job;
  const { io } = jobWords;
  if (output === null) return <p className={css.soft}>{isFinished(job) ? io.noOutput : io.noOutputYet}</p>;
  return output.data === null ? <Markdown text={output.text} /> : <JsonTree value={output.data} label={io.data} />;
}
