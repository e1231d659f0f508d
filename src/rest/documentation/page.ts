import { createHash } from 'node:crypto'
import { Html, html } from '../../core/text/html.ts'
import { type Document, operationsOf } from './openapi.ts'
import { exampleOf, fieldsOf, kindOf, prose, resolve, rulesOf, type Schema } from './schema.ts'
import { SEARCH } from './search.ts'
import { gettingStarted } from './start.ts'
import { STYLE } from './style.ts'

/** Renders the OpenAPI document as a page, on the server, with one script and without external resources. */

const hashOf = (text: string): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

export const DOCUMENTATION_POLICY = `default-src 'none'; style-src ${hashOf(STYLE)}; script-src ${hashOf(SEARCH)}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

type Located = ReturnType<typeof operationsOf>[number]

interface Parameter {
  name: string
  in: string
  required?: boolean
  description?: string
  schema: Schema
}

interface Content {
  content?: Record<string, { schema?: Schema; example?: unknown }>
}

const field = (
  name: string,
  schema: Schema,
  required: boolean,
  description: string | undefined,
): Html => html`<li>
<p><code class="name">${name}</code> <span class="kind">${kindOf(schema)}</span> ${required ? html`<b class="required">required</b>` : []}</p>
${description ? html`<p>${prose(description)}</p>` : []}<ul class="rules">${rulesOf(schema)}</ul></li>`

const section = (title: string, items: Html[]): Html | [] =>
  items.length > 0 ? html`<h4>${title}</h4><ul class="fields">${items}</ul>` : []

const fields = (document: Document, schema: Schema): Html[] =>
  fieldsOf(document, schema).flatMap(({ name, field: each, required }) => [
    field(name, each, required, each.description),
    ...nested(document, name, each),
  ])

/** Lists the fields of a nested object, by their full names. */
const nested = (document: Document, name: string, schema: Schema): Html[] => {
  const inside = schema.items && !schema.items.$ref ? schema.items : schema
  if (schema.$ref || !inside.properties) return []
  const path = inside === schema ? name : `${name}[]`
  return fieldsOf(document, inside).flatMap(({ name: below, field: each, required }) => [
    field(`${path}.${below}`, each, required, each.description),
    ...nested(document, `${path}.${below}`, each),
  ])
}

const json = (value: unknown): Html =>
  html`<pre tabindex="0"><code>${JSON.stringify(value, null, 2)}</code></pre>`

const bodyOf = ({ operation }: Located): Schema | undefined =>
  (operation.requestBody as Content | undefined)?.content?.['application/json']?.schema

const curl = (document: Document, located: Located): Html => {
  const { method, path } = located
  const schema = bodyOf(located)
  const lines = [
    `curl${method === 'get' ? '' : ` -X ${method.toUpperCase()}`} '${(document.paths?.[path]?.servers ?? document.servers)?.[0]?.url}${path}'`,
    `  -H "Authorization: Bearer $TOKEN"`,
    ...(schema
      ? [
          `  -H 'Content-Type: application/json'`,
          `  -d '${JSON.stringify(exampleOf(document, schema)).replaceAll("'", "'\\''")}'`,
        ]
      : []),
  ]
  return html`<pre tabindex="0"><code>${lines.join(' \\\n')}</code></pre>`
}

const answer = (document: Document, status: string, given: { $ref?: string }): Html => {
  const { description, content } = resolve(document, given) as Content & { description: string }
  const [type, media] = Object.entries(content ?? {})[0] ?? []
  const schema = media?.schema
  const isJson = type === 'application/json'
  const shape =
    schema && !given.$ref ? html` <span class="kind">${isJson ? kindOf(schema) : type!}</span>` : []
  const label = html`<code class="status s${status[0]!}">${status}</code> ${prose(description)}${shape}`
  const example = media?.example ?? (isJson && schema ? exampleOf(document, schema) : undefined)
  return example === undefined
    ? html`<li>${label}</li>`
    : html`<li><details><summary>${label}</summary>${json(example)}</details></li>`
}

const operationSection = (document: Document, located: Located): Html => {
  const { path, method, operation } = located
  const parameters = (operation.parameters ?? []).map(
    (parameter) => resolve(document, parameter) as unknown as Parameter,
  )
  const inside = (place: string) =>
    parameters
      .filter((parameter) => parameter.in === place)
      .map(({ name, schema, required, description }) => field(name, schema, required ?? false, description))
  const schema = bodyOf(located)
  const answers = Object.entries(operation.responses ?? {}).map(([status, response]) =>
    answer(document, status, response),
  )
  return html`<section class="operation" id="${operation.operationId ?? ''}">
<h3><a href="#${operation.operationId ?? ''}">${prose(operation.summary ?? '')}</a></h3>
<p class="route"><b class="method ${method}">${method.toUpperCase()}</b> <code>${path}</code></p>
${operation.description ? html`<p>${prose(operation.description)}</p>` : []}
${section('Path', inside('path'))}${section('Query', inside('query'))}${section('Headers', inside('header'))}
${schema ? section('Body', fields(document, schema)) : []}
<h4>Responses</h4><ul class="answers">${answers}</ul>
<h4>Try it</h4>${curl(document, located)}
</section>`
}

const tagSection = (
  document: Document,
  { name, description }: { name: string; description?: string },
): Html => {
  const operations = operationsOf(document).filter(({ operation }) => operation.tags?.includes(name))
  return html`<section class="tag"><h2 id="tag-${name.replaceAll(' ', '-')}">${name}</h2><p>${prose(description ?? '')}</p>
${operations.map((located) => operationSection(document, located))}</section>`
}

const objectSection = (
  document: Document,
  name: string,
  schema: Schema,
): Html => html`<section class="operation" id="object-${name}">
<h3><a href="#object-${name}">${name}</a></h3>${schema.description ? html`<p>${prose(schema.description)}</p>` : []}
<ul class="fields">${fields(document, schema)}</ul><ul class="rules">${rulesOf(schema)}</ul>${schema.example === undefined ? [] : json(schema.example)}</section>`

const indexOf = (document: Document): Html => {
  const groups = (document.tags ?? []).map(({ name }) => {
    const operations = operationsOf(document).filter(({ operation }) => operation.tags?.includes(name))
    const links = operations.map(
      ({ method, path, operation }) => html`<li><a href="#${operation.operationId ?? ''}" title="${path}">
<b class="method ${method}">${method === 'delete' ? 'DEL' : method.toUpperCase()}</b><span>${operation.operationId ?? ''}</span></a></li>`,
    )
    return html`<li><a class="group" href="#tag-${name.replaceAll(' ', '-')}">${name}</a><ul>${links}</ul></li>`
  })
  return html`<ul><li><a class="group" href="#getting-started">Getting started</a></li><li><a class="group" href="#about">About the API</a></li>${groups}<li><a class="group" href="#objects">Objects</a></li></ul>`
}

/** Renders the page. */
export const documentationPage = (document: Document): Html => {
  const { title, version, description = '' } = document.info
  const bodies = new Set(operationsOf(document).map((located) => bodyOf(located)?.$ref))
  const objects = Object.entries(document.components?.schemas ?? {})
    .filter(([name]) => !bodies.has(`#/components/schemas/${name}`))
    .sort(([a], [b]) => a.localeCompare(b))
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} ${version}</title>
<style>${new Html(STYLE)}</style>
</head>
<body>
<header><h1>${title}</h1><p>Version ${version} · <code>${document.servers?.[0]?.url ?? ''}</code> · <a href="/openapi.json">openapi.json</a></p></header>
<nav aria-label="Operations"><p class="search" hidden><label>Search <input type="search" id="search"></label> <output id="found"></output></p><details class="menu"><summary>All operations</summary>${indexOf(document)}</details><div class="rail">${indexOf(document)}</div></nav>
<main>
${gettingStarted(document.servers?.[0]?.url ?? '')}
<section class="tag"><h2 id="about">About the API</h2>
${description.split('\n\n').map((paragraph) => html`<p>${prose(paragraph)}</p>`)}</section>
${(document.tags ?? []).map((tag) => tagSection(document, tag))}
<section class="tag"><h2 id="objects">Objects</h2>${objects.map(([name, schema]) => objectSection(document, name, schema as Schema))}</section>
</main>
<script>${new Html(SEARCH)}</script>
</body>
</html>
`
}
