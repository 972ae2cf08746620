/** Why a message is not part of the history, when, and by whom; with a link to the timeline of its job. */
import { Link } from '@tanstack/react-router';
import type { Actor, Message, Retraction } from 'nightshift/client';
import { actorName, useKeyNames } from '../../../data/actors.ts';
import { useMay } from '../../../data/query/session.ts';
import { ClockTime } from '../../../ui/text/time.tsx';
import css from '../bubbles.module.css';

/** Nothing for a message of the history. */
export function RetractedMark({ message: { status, retraction, job_id: jobId } }: { message: Message }) {
  if (status !== 'retracted') return null;
  return (
    <>
      <span className={css.why}>
        {retraction === null ? (
          'Retracted'
        ) : (
          <>
            {WHY[retraction.cause]}
            {retraction.by !== null && <By actor={retraction.by} />}, <ClockTime at={retraction.at} />
          </>
        )}
      </span>
      {jobId !== null && (
        <Link to="/jobs/$jobId" params={{ jobId }}>
          Timeline
        </Link>
      )}
    </>
  );
}

const WHY: Record<Retraction['cause'], string> = {
  cancel: 'Stopped',
  stop: 'Stopped',
  interrupt: 'Stopped',
  deadline: 'Stopped at the deadline of its job',
  refused: 'Refused by the model',
  failed: 'Not finished: the model call failed',
};

function By({ actor }: { actor: Actor }) {
  // Only keys that the API made have names.
  const isNamed = actor.id !== null && !actor.id.startsWith('env:') && actor.kind !== 'token';
  const names = useKeyNames(useMay('keys') && isNamed);
  return <> by {actorName(actor, names)}</>;
}
