import { type Html, html } from '../../core/text/html.ts'

const shell = (lines: string): Html => html`<pre tabindex="0"><code>${lines}</code></pre>`

/** The first steps, in commands that work as they are, with this service's URL. */
export const gettingStarted = (
  url: string,
): Html => html`<section class="tag"><h2 id="getting-started">Getting started</h2>
<p>You need a member's token: the first start of the service saves the owner's in <code>data/owner-token</code>, and <code>npm start -- token --member EMAIL</code> creates another one. In a browser, <a href="/app">the web application</a> does all of this too.</p>
${shell(`TOKEN=$(cat data/owner-token)`)}
<p>Create an agent. It has an email address immediately, and accepts mail only from you until you change that.</p>
${shell(`AGENT=$(curl -sS '${url}/agents' -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"name":"Support Bot","icon":"headphones"}' |
  sed 's/.*"id":"\\([^"]*\\)".*/\\1/')
curl -sS "${url}/agents/$AGENT/addresses" -H "Authorization: Bearer $TOKEN"`)}
<p>Write to it, and read what arrived. A refused message is listed too, with the reason.</p>
${shell(`curl -sS "${url}/agents/$AGENT/messages" -H "Authorization: Bearer $TOKEN"`)}
<p>Send a message. To answer one, send <code>replyTo</code> with its id in place of <code>channel</code> and <code>to</code>.</p>
${shell(`curl -sS "${url}/agents/$AGENT/messages" -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"channel":"email","to":["ann@example.com"],"text":"Hello"}'`)}
<p>Give the agent its own token, which gives access to nothing else, and let it hear of new messages: by <a href="#addWebhook">webhooks</a>, by <a href="#connect">an event stream</a>, by GraphQL at <a href="/graphql">/graphql</a>, or by MCP at <a href="/mcp">/mcp</a>.</p>
${shell(`curl -sS "${url}/agents/$AGENT/tokens" -H "Authorization: Bearer $TOKEN" \\
  -H 'Content-Type: application/json' -d '{"name":"first"}'`)}
</section>`
