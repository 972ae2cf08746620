/**
 * The socket below a database connection. It reports its end before any other listener runs, and even after postgres.js
 * has removed all listeners, which it does when TLS starts.
 */
import { Socket } from 'node:net';

export class ConnectionSocket extends Socket {
  /** The host it connects to. postgres.js reads this name for TLS. */
  readonly host: string;
  readonly #closed: (error: Error | null) => void;

  /** `closed` is called once, while the socket closes: with the error that broke the connection, or null. */
  constructor(host: string, closed: (error: Error | null) => void) {
    super();
    // The driver writes one request in several pieces. Without Nagle's algorithm, none waits for the previous
    // acknowledgement.
    this.setNoDelay(true);
    this.host = host;
    this.#closed = closed;
    // An error may occur before the driver adds its listener. An unhandled error event would end the process.
    this.on('error', () => undefined);
  }

  /**
   * Closes the socket. TLS gets the `close` event first, because its pending writes would otherwise fail without a
   * listener.
   */
  abandon(): void {
    if (this.destroyed) return;
    this.emit('close', false);
    // The driver then removes all listeners. Data written before the socket was connected fails after that.
    this.on('error', () => undefined);
    this.destroy();
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#closed(error);
    super._destroy(error, callback);
  }
}
