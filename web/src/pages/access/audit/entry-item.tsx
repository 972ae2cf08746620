/** One entry of the audit log: a sentence, the page of what it is about, and all that was recorded. */
import { Link } from '@tanstack/react-router';
import type { AuditEntry } from 'nightshift/client';
import { useState } from 'react';
import { Button } from '../../../ui/forms/button.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../access.module.css';
import type { AuditSearch } from './filter.ts';
import type { KeyNames } from '../../../data/actors.ts';
import { sentenceOf, type Subject } from './sentence.ts';

type Props = { entry: AuditEntry; names: KeyNames; onFilter: (filter: AuditSearch) => void };

export function EntryItem({ entry, names, onFilter }: Props) {
  const { id, at, actor, target } = entry;
  const { who, did, subject } = sentenceOf(entry, names);
  const [isOpen, setOpen] = useState(false);
  const turn = isOpen ? 'Hide' : 'Details';
  const actorId = actor.id ?? actor.user;
  return (
    <li className={listCss.item} aria-label={`${who} ${did}`} data-row={id}>
      <div className={listCss.itemHead}>
        <span className={css.sentence}>
          <strong>{who}</strong> {did}
          {subject !== null && (
            <>
              {' · '}
              <SubjectLink subject={subject} />
            </>
          )}
        </span>
        <span className={css.when}>
          <RelativeTime at={at} />
        </span>
        <Button
          size="small"
          variant="quiet"
          aria-expanded={isOpen}
          aria-label={`${turn}: ${who} ${did}`}
          onClick={() => setOpen(!isOpen)}
        >
          {turn}
        </Button>
      </div>
      {isOpen && (
        <>
          <Json value={entry} label="Entry" />
          <span className={listCss.buttons}>
            {actorId !== null && (
              <Button size="small" onClick={() => onFilter({ actor: actorId })}>
                Same actor
              </Button>
            )}
            <Button size="small" onClick={() => onFilter({ target })}>
              Same target
            </Button>
          </span>
        </>
      )}
    </li>
  );
}

function SubjectLink({ subject }: { subject: NonNullable<Subject> }) {
  switch (subject.page) {
    case 'context':
      return (
        <Link to="/contexts/$contextId" params={{ contextId: subject.id }}>
          Context
        </Link>
      );
    case 'job':
      return (
        <Link to="/jobs/$jobId" params={{ jobId: subject.id }}>
          Job
        </Link>
      );
    case 'keys':
      return (
        <Link to="/access" search={{ tab: 'keys' }}>
          API keys
        </Link>
      );
    case 'roles':
      return (
        <Link to="/settings" search={{ tab: 'roles' }}>
          Roles
        </Link>
      );
    case 'schedules':
      return <Link to="/schedules">Schedules</Link>;
    case 'webhooks':
      return (
        <Link to="/settings" search={{ tab: 'webhooks' }}>
          Webhooks
        </Link>
      );
  }
}
