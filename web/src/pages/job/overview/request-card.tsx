/** Who asked for the job, and what runs it. */
import { Link } from '@tanstack/react-router';
import type { Job } from 'nightshift/client';
import { contextName } from '../../../data/format.ts';
import { Card } from '../../../ui/layout/card.tsx';
import { CopyButton } from '../../../ui/text/copy-button.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { jobWords, timelineWords } from '../../../words.ts';
import { Fact } from '../fact.tsx';
import css from '../job.module.css';
import { Models } from '../models.tsx';

const words = jobWords.overview;
const { none } = jobWords.facts;

export function RequestCard({ job }: { job: Job }) {
  const { context_id: contextId, context_title: title, worker_name, metadata } = job;
  return (
    <Card title={words.request}>
      <dl className={css.list}>
        <Fact name={words.kind}>{timelineWords.jobKinds[job.kind]}</Fact>
        <Fact name={words.user}>{job.user ?? none}</Fact>
        <Fact name={words.worker}>
          <Link to="/workers/$workerId/tree" params={{ workerId: job.worker_id }}>
            {worker_name}
          </Link>
        </Fact>
        <Fact name={words.role}>{job.role ?? none}</Fact>
        <Models job={job} />
        <Fact name={words.context}>
          <Link to="/contexts/$contextId" params={{ contextId }}>
            {contextName({ id: contextId, title, first_input: null, parent_worker_id: null, worker_name })}
          </Link>
        </Fact>
        <Fact name={words.branch}>{job.branch}</Fact>
        <Fact name={words.id}>
          <span className={css.id}>
            <code>{job.id}</code>
            <CopyButton read={() => job.id} label={words.copyId} />
          </span>
        </Fact>
      </dl>
      {Object.keys(metadata).length > 0 && (
        <div className={css.below}>
          <h3>{words.metadata}</h3>
          <Json value={metadata} label={words.metadata} most={200} />
        </div>
      )}
    </Card>
  );
}
