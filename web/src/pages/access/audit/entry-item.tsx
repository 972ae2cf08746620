/** One entry of the audit log: a sentence, the page of what it is about, and all that was recorded. */
import { Link } from '@tanstack/react-router';
import type { AuditEntry } from 'nightshift/client';
import { useState } from 'react';
import { Button } from '../../../ui/forms/button.tsx';
import type { Place } from '../../../ui/layout/long-list.tsx';
import { Json } from '../../../ui/text/json.tsx';
import { RelativeTime } from '../../../ui/text/time.tsx';
import listCss from '../../../ui/list.module.css';
import css from '../access.module.css';
import type { AuditSearch } from './filter.ts';
import type { KeyNames } from '../../../data/actors.ts';
import { sentenceOf, type Subject } from './sentence.ts';
import { auditWords } from '../../../words.ts';

const words = auditWords.entry;

type Props = { place: Place; entry: AuditEntry; names: KeyNames; onFilter: (filter: AuditSearch) => void };

export function EntryItem({ place, entry, names, onFilter }: Props) {
  const { at, actor, target } = entry;
  const { who, did, subject } = sentenceOf(entry, names);
  const [isOpen, setOpen] = useState(false);
  const turn = isOpen ? words.hide : words.details;
  const sentence = `${who} ${did}`;
  const actorId = actor.id ?? actor.user;
  return (
    <li {...place} className={listCss.item} aria-label={sentence}>
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
          aria-label={words.detailsOf(turn, sentence)}
          onClick={() => setOpen(!isOpen)}
        >
          {turn}
        </Button>
      </div>
      {isOpen && (
        <>
          <Json value={entry} label={words.json} />
          <span className={listCss.buttons}>
            {actorId !== null && (
              <Button size="small" onClick={() => onFilter({ actor: actorId })}>
                {words.sameActor}
              </Button>
            )}
            <Button size="small" onClick={() => onFilter({ target })}>
              {words.sameTarget}
            </Button>
          </span>
        </>
      )}
    </li>
  );
}

function SubjectLink({ subject }: { subject: NonNullable<Subject> }) {
  const label = words.pages[subject.page];
  switch (subject.page) {
    case 'context':
      return (
        <Link to="/contexts/$contextId" params={{ contextId: subject.id }}>
          {label}
        </Link>
      );
    case 'job':
      return (
        <Link to="/jobs/$jobId" params={{ jobId: subject.id }}>
          {label}
        </Link>
      );
    case 'keys':
      return (
        <Link to="/access" search={{ tab: 'keys' }}>
          {label}
        </Link>
      );
    case 'roles':
      return (
        <Link to="/settings" search={{ tab: 'roles' }}>
          {label}
        </Link>
      );
    case 'schedules':
      return <Link to="/schedules">{label}</Link>;
    case 'webhooks':
      return (
        <Link to="/settings" search={{ tab: 'webhooks' }}>
          {label}
        </Link>
      );
  }
}
