/** One tenant: its status, what it may use, and its actions. */
import type { Tenant } from 'nightshift/client';
import { Button } from '../../ui/forms/button.tsx';
import listCss from '../../ui/list.module.css';
import { Badge, type Tone } from '../../ui/text/badge.tsx';
import { RelativeTime } from '../../ui/text/time.tsx';
import { allowedText, limitsText } from './brief.ts';
import css from './tenants.module.css';

export type Action = 'key' | 'usage' | 'edit' | 'suspend' | 'resume' | 'delete';

const TONES: Readonly<Record<Tenant['status'], Tone>> = { active: 'green', suspended: 'amber', deleting: 'red' };
/** Every installation has this tenant. */
const KEPT = 'default';

/** `hasAdminKey`: whether first keys of tenants are made with the admin key. */
type Props = { tenant: Tenant; hasAdminKey: boolean; onAction: (action: Action) => void };

export function TenantItem({ tenant, hasAdminKey, onAction }: Props) {
  const { name, status, limits, allow, created_at, deletion } = tenant;
  return (
    <li className={listCss.item} aria-label={name}>
      <div className={listCss.itemHead}>
        <span className={listCss.strong}>{name}</span>
        <Badge tone={TONES[status]}>{status}</Badge>
        {status !== 'deleting' && <Buttons name={name} status={status} hasAdminKey={hasAdminKey} onAction={onAction} />}
      </div>
      {deletion === null ? (
        <>
          <p className={css.about}>
            Weight {limits.weight} · {limitsText(limits)}
          </p>
          <p className={css.about}>{allowedText(allow)}</p>
        </>
      ) : (
        <p className={css.about}>
          Deletion requested <RelativeTime at={deletion.requested_at} /> · {count(deletion.deleted_workers)} deleted so
          far. Worker processes delete its data.
        </p>
      )}
      <p className={css.faint}>
        Created <RelativeTime at={created_at} />
      </p>
    </li>
  );
}

type ButtonsProps = Pick<Props, 'hasAdminKey' | 'onAction'> & { name: string; status: 'active' | 'suspended' };

function Buttons({ name, status, hasAdminKey, onAction }: ButtonsProps) {
  const turn = status === 'active' ? ({ action: 'suspend', label: 'Suspend' } as const) : RESUME;
  return (
    <span className={listCss.buttons}>
      {hasAdminKey && status === 'active' && (
        <Button size="small" onClick={() => onAction('key')} aria-label={`Create first key of ${name}`}>
          Create first key
        </Button>
      )}
      <Button size="small" onClick={() => onAction('usage')} aria-label={`Usage of ${name}`}>
        Usage
      </Button>
      <Button size="small" onClick={() => onAction('edit')} aria-label={`Edit ${name}`}>
        Edit
      </Button>
      <Button size="small" onClick={() => onAction(turn.action)} aria-label={`${turn.label} ${name}`}>
        {turn.label}
      </Button>
      {name !== KEPT && (
        <Button size="small" variant="risky" onClick={() => onAction('delete')} aria-label={`Delete ${name}`}>
          Delete
        </Button>
      )}
    </span>
  );
}

const RESUME = { action: 'resume', label: 'Resume' } as const;

function count(workers: number): string {
  return workers === 1 ? '1 worker' : `${workers} workers`;
}
