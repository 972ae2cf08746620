// The cookie of a browser that has signed in with a key: tests need not fill in the form each time.

export type SessionCookie = { name: string; value: string; url: string };

export async function signIn(url: string, apiKey: string): Promise<SessionCookie> {
  const response = await fetch(`${url}/api/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ key: apiKey }),
  });
  const cookie = response.headers.getSetCookie().map((header) => /^([^=]+)=([^;]*)/.exec(header))[0];
  const [, name, value] = cookie ?? [];
  if (name === undefined || value === undefined)
    throw new Error(`no session cookie in the answer with status ${response.status}: ${await response.text()}`);
  return { name, value, url };
}
