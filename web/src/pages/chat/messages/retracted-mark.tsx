/** Why a message is not part of the history, when, and by whom; with a link to the timeline of its job. */
import { Link } from '@tanstack/react-router';
import type { Actor, Message } from 'nightshift/client';
import { actorName, useKeyNames } from '../../../data/actors.ts';
import { useMay } from '../../../data/query/session.ts';
import { ClockTime } from '../../../ui/text/time.tsx';
import { chatWords, messageWords } from '../../../words.ts';
import css from '../bubbles.module.css';

const words = messageWords.retracted;

/** Nothing for a message of the history. */
export function RetractedMark({ message: { status, retraction, job_id: jobId } }: { message: Message }) {
  if (status !== 'retracted') return null;
  return (
    <>
      <span className={css.why}>
        {retraction === null ? (
          words.unknown
        ) : (
          <>
            {words.why[retraction.cause]}
            {retraction.by !== null && <By actor={retraction.by} />}, <ClockTime at={retraction.at} />
          </>
        )}
      </span>
      {jobId !== null && (
        <Link to="/jobs/$jobId" params={{ jobId }} search={{ tab: 'timeline' }}>
          {chatWords.timeline}
        </Link>
      )}
    </>
  );
}

function By({ actor }: { actor: Actor }) {
  // Only keys that the API made have names.
  const isNamed = actor.id !== null && !actor.id.startsWith('env:') && actor.kind !== 'token';
  const names = useKeyNames(useMay('keys') && isNamed);
  return ` ${words.by(actorName(actor, names))}`;
}
