/** What a command reads and writes. `process` is one. Its `stdin` is opened at the first use. */
import type { Readable, Writable } from 'node:stream';

export type Io = { stdin: Readable & Tty; stdout: Writable & Tty; stderr: Writable & Tty; env: Env };
export type Env = Readonly<Record<string, string | undefined>>;
export type Tty = { isTTY?: boolean; columns?: number; rows?: number };
