/** The idempotency key of a step: a UUID of version 8 that is made of the id of the call and the name. */
import { createHash } from 'node:crypto';
import type { ToolCallId } from '../../core/ids.ts';

export function stepKey(callId: ToolCallId, name: string): string {
  const bytes = createHash('sha256').update(`${callId} ${name}`).digest().subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  return bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
