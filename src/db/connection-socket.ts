/**
 * The socket below a line. It tells of its end before anybody else hears of it, and whatever listeners postgres.js takes
 * away, as it does with all of them where TLS begins.
 */
import { Socket } from 'node:net';

export class ConnectionSocket extends Socket {
  /** Where it leads to. postgres.js asks TLS for this name. */
  readonly host: string;
  readonly #closed: (error: Error | null) => void;

  /** `told` hears of the end once, while it happens: with what broke the connection, or null where it was closed. */
  constructor(host: string, closed: (error: Error | null) => void) {
    super();
    // The driver writes what is asked at once in several pieces: none waits until the one before it was acknowledged.
    this.setNoDelay(true);
    this.host = host;
    this.#closed = closed;
    // An error may come before the driver listens; unheard, it would end the process.
    this.on('error', () => undefined);
  }

  /** Ends it. TLS above is told first: what it still writes, or has under way, would otherwise fail with nobody to hear. */
  abandon(): void {
    if (this.destroyed) return;
    this.emit('close', false);
    // The driver takes all listeners away then; what was written before it was connected fails after that.
    this.on('error', () => undefined);
    this.destroy();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#closed(error);
    super._destroy(error, callback);
  }
}
