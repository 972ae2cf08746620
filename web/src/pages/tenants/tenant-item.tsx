/** One tenant: its status, what it may use, and its actions. */
import type { Tenant } from 'nightshift/client';
import { Button } from '../../ui/forms/button.tsx';
import type { Place } from '../../ui/layout/long-list.tsx';
import listCss from '../../ui/list.module.css';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { allowedText, limitsText } from './brief.ts';
import { actionOn, commonWords, tenantsWords } from '../../words.ts';
import { Sentence } from '../../ui/text/sentence.tsx';
import css from './tenants.module.css';

const words = tenantsWords.item;

export type Action = 'key' | 'usage' | 'edit' | 'suspend' | 'resume' | 'delete';

const TONES: Readonly<Record<Tenant['status'], Tone>> = { active: 'green', suspended: 'amber', deleting: 'red' };
/** Every installation has this tenant. */
const KEPT = 'default';

/** `hasAdminKey`: whether first keys of tenants are made with the admin key. */
type Props = { place: Place; tenant: Tenant; hasAdminKey: boolean; onAction: (action: Action) => void };

export function TenantItem({ place, tenant, hasAdminKey, onAction }: Props) {
  const { name, status, limits, allow, created_at, deletion } = tenant;
  return (
    <li {...place} className={listCss.item} aria-label={name}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{name}</span>
        <Badge tone={TONES[status]}>{words.status[status]}</Badge>
        {status !== 'deleting' && <Buttons name={name} status={status} hasAdminKey={hasAdminKey} onAction={onAction} />}
      </div>
      {deletion === null ? (
        <>
          <p className={css.about}>
            {words.weight(limits.weight)} · {limitsText(limits)}
          </p>
          <p className={css.about}>{allowedText(allow)}</p>
        </>
      ) : (
        <p className={css.about}>
          <Sentence
            text={words.deletion}
            gaps={{
              when: <RelativeTime at={deletion.requested_at} />,
              workers: words.workers(deletion.deleted_workers),
            }}
          />
        </p>
      )}
      <p className={css.faint}>
        <Sentence text={words.created} gaps={{ when: <RelativeTime at={created_at} /> }} />
      </p>
    </li>
  );
}

type ButtonsProps = Pick<Props, 'hasAdminKey' | 'onAction'> & { name: string; status: 'active' | 'suspended' };

function Buttons({ name, status, hasAdminKey, onAction }: ButtonsProps) {
  const turn = status === 'active' ? 'suspend' : 'resume';
  return (
    <span className={listCss.buttons}>
      {hasAdminKey && status === 'active' && (
        <Button size="small" onClick={() => onAction('key')} aria-label={words.createFirstKeyOf(name)}>
          {words.createFirstKey}
        </Button>
      )}
      <Button size="small" onClick={() => onAction('usage')} aria-label={words.usageOf(name)}>
        {words.usage}
      </Button>
      <Button size="small" onClick={() => onAction('edit')} aria-label={actionOn(commonWords.edit, name)}>
        {commonWords.edit}
      </Button>
      <Button size="small" onClick={() => onAction(turn)} aria-label={actionOn(commonWords[turn], name)}>
        {commonWords[turn]}
      </Button>
      {name !== KEPT && (
        <Button
          size="small"
          variant="risky"
          onClick={() => onAction('delete')}
          aria-label={actionOn(commonWords.delete, name)}
        >
          {commonWords.delete}
        </Button>
      )}
    </span>
  );
}
