// A process of `nightshift dev` that starts until the file `go` exists. It prints each SIGTERM.
import { existsSync } from 'node:fs';

process.on('SIGTERM', () => process.stdout.write('SIGTERM\n'));
process.stdout.write('starting\n');
setInterval(() => {
  if (existsSync(process.env['GO'] ?? '')) process.exit(0);
}, 20);
