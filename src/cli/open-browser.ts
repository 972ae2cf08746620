/** Opens an address in the browser of the person at this machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** Whether the program that opens browsers could be started. It is not waited for. */
export async function openBrowser(address: string): Promise<boolean> {
  const [program, ...args] = openerOf(process.platform);
  const child = spawn(program, [...args, address], { stdio: 'ignore', detached: true });
  try {
    await once(child, 'spawn');
    child.unref();
    return true;
  } catch {
    return false;
  }
}

function openerOf(platform: NodeJS.Platform): readonly [string, ...string[]] {
  if (platform === 'darwin') return ['open'];
  return platform === 'win32' ? ['explorer.exe'] : ['xdg-open'];
}
