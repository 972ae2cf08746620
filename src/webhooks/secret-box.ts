/**
 * Encrypts the secrets of webhooks with a key that is derived from NIGHTSHIFT_SECRET_KEY. The first secret encrypts; all
 * decrypt, so that the secret can be changed. A sealed text is bound to the tenant and the webhook that it belongs to.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import type { TenantId, WebhookId } from '../core/ids.ts';

const CIPHER = 'aes-256-gcm';
const IV_BYTES = 12;
const TAG_BYTES = 16;

type Owner = { tenantId: TenantId; id: WebhookId };

export type SecretBox = {
  seal(owner: Owner, secret: string): string;
  /** Null: it was sealed with another key, or for another webhook. */
  open(owner: Owner, sealed: string): string | null;
};

/** Null: there is no secret, so webhooks cannot be made, nor sent to. */
export function openSecretBox(secrets: readonly string[]): SecretBox | null {
  const keys = secrets.map(keyOf);
  const [first] = keys;
  if (first === undefined) return null;
  return {
    seal(owner, secret) {
      const iv = randomBytes(IV_BYTES);
      const cipher = createCipheriv(CIPHER, first, iv).setAAD(ownerText(owner));
      const text = Buffer.concat([cipher.update(secret, 'utf8'), cipher.final()]);
      return Buffer.concat([iv, cipher.getAuthTag(), text]).toString('base64url');
    },
    open(owner, sealed) {
      const bytes = Buffer.from(sealed, 'base64url');
      for (const key of keys) {
        const secret = opened(key, owner, bytes);
        if (secret !== null) return secret;
      }
      return null;
    },
  };
}

function opened(key: Buffer, owner: Owner, bytes: Buffer): string | null {
  if (bytes.length < IV_BYTES + TAG_BYTES) return null;
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(ownerText(owner))
    .setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)), decipher.final()]).toString('utf8');
  } catch {
    return null;
  }
}

function keyOf(secret: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', 'nightshift webhook secrets', 32));
}

function ownerText({ tenantId, id }: Owner): Buffer {
  return Buffer.from(`${tenantId} ${id}`);
}

/** As Standard Webhooks has it: 24 random bytes or more. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}
