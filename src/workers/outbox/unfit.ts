/** Why an outbox cannot be relayed as it is. */
import type { OutboxAbout } from '../../db/outbox/outbox-rows.ts';
import { OUTBOX_VERSION } from '../../db/outbox/outbox-schema.ts';

type UnfitCode = 'not_installed' | 'not_granted' | 'replaced' | 'tenant_inactive' | 'older_version' | 'newer_version';

export class Unfit extends Error {
  override name = 'Unfit';
  readonly code: UnfitCode;
  constructor(code: UnfitCode) {
    super(code);
    this.code = code;
  }
}

/** Throws Unfit. */
export function checkVersion({ version }: Pick<OutboxAbout, 'version'>): void {
  if (version > OUTBOX_VERSION) throw new Unfit('newer_version');
  if (version < OUTBOX_VERSION) throw new Unfit('older_version');
}
