// Loaded by bootstrap.js (node --import) ahead of the program that it runs. It makes two things true for that
// program: one Ctrl-C is one signal, although the terminal, npm and the bootstrap may each deliver it; and when
// the bootstrap is killed, the program is told to end, so that nothing goes on running unseen.
import { isMainThread } from 'node:worker_threads';

const SAME_SIGNAL_MS = 500;

if (isMainThread && process.env.NIGHTSHIFT_BOOTSTRAP === String(process.ppid)) {
  const parent = process.ppid;
  const last = new Map();
  const emit = process.emit.bind(process);
  process.emit = (event, ...args) => {
    if (event === 'SIGINT' || event === 'SIGTERM' || event === 'SIGHUP') {
      const now = performance.now();
      if (now - (last.get(event) ?? -Infinity) < SAME_SIGNAL_MS) return true;
      last.set(event, now);
    }
    return emit(event, ...args);
  };
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}
