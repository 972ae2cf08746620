// The timeline of a job that waits for its provider. In a tenant of its own: all simulated models of a tenant are throttled.
import { browserTest as test, expectAccessible, useBrowser } from './rig/browser.ts';
import { useTenant } from './rig/platform.ts';
import { openContext } from './rig/scenes.ts';

const platform = useTenant('timeline-throttled');
const { visit } = useBrowser(platform);

test('a call that waits for the provider is throttled', async () => {
  const { client, url } = platform();
  const { jobs } = await openContext(client, 'refused', ['fail: rate_limited retry-after 1h times 1']);
  const page = await visit(`${url}/jobs/${jobs[0]}?tab=timeline`);
  const steps = page.getByRole('list', { name: 'Steps' });
  await steps
    .getByRole('button', { name: /^simulated\/test/ })
    .getByText('Throttled')
    .waitFor();
  await steps.locator('[data-stretch="throttle"]').waitFor();
  await expectAccessible(page);
});
