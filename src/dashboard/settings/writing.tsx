import { useState } from 'react'
import { Button, IconButton } from '../parts/button.tsx'
import { Confirm } from '../parts/dialog/dialog.tsx'
import { FormDialog } from '../parts/dialog/form-dialog.tsx'
import { Field, TextField } from '../parts/form/field.tsx'
import { useEdits } from '../parts/form/use-edits.ts'
import { Form } from '../parts/form.tsx'
import { PencilIcon, PlusIcon, Trash2Icon } from '../parts/icons.tsx'
import { type Column, Table } from '../parts/list/table.tsx'
import { Panel } from '../parts/panel.tsx'
import type { Agent } from './query.ts'
import { text } from './strings.ts'
import { useUpdate } from './update.ts'

type Template = Agent['templates'][number]

const MOST_TEMPLATES = 50

const Signature = ({ agent }: { agent: Agent }) => {
  const { fields, edit, isEdited } = useEdits({ signature: agent.signature ?? '' })
  const { update, busy, failure } = useUpdate(agent.id)
  const submit = () => update({ signature: fields.signature.trim() || null })
  return (
    <Form className="form" onSubmit={submit}>
      <TextField
        label={text.signature}
        hint={text.signatureHint}
        error={failure?.message}
        value={fields.signature}
        onChange={(event) => edit('signature', event.target.value)}
        rows={3}
        maxLength={2_000}
      />
      <div className="row">
        <Button submit busy={busy} disabled={!isEdited}>
          {text.save}
        </Button>
      </div>
    </Form>
  )
}

interface TemplateFormProps {
  agent: Agent
  /** The one that is changed; null for a new one. */
  template: Template | null
  onClose(): void
}

const TemplateForm = ({ agent, template, onClose }: TemplateFormProps) => {
  const [name, setName] = useState(template?.name ?? '')
  const [body, setBody] = useState(template?.text ?? '')
  const { update, busy, failure } = useUpdate(agent.id)
  const submit = async () => {
    const next = { name: name.trim(), text: body }
    const others = agent.templates.map((one) => (one.name === template?.name ? next : one))
    if (await update({ templates: template ? others : [...others, next] })) onClose()
  }
  return (
    <FormDialog
      wide
      title={template ? text.changeTemplate : text.addTemplate}
      label={text.save}
      onClose={onClose}
      onSubmit={submit}
      busy={busy}
    >
      <Field
        label={text.templateName}
        value={name}
        onChange={(event) => setName(event.target.value)}
        maxLength={60}
        autoFocus
        required
      />
      <TextField
        label={text.templateText}
        error={failure?.message}
        value={body}
        onChange={(event) => setBody(event.target.value)}
        rows={8}
        maxLength={10_000}
        required
      />
    </FormDialog>
  )
}

/** What members use when they write as the agent: its signature, and texts that are written often. */
export const Writing = ({ agent }: { agent: Agent }) => {
  const [changing, setChanging] = useState<Template | 'new' | null>(null)
  const [removing, setRemoving] = useState<string | null>(null)
  const { update } = useUpdate(agent.id)
  const columns: readonly Column<Template>[] = [
    { title: text.templateName, cell: ({ name }) => name },
    { title: text.templateText, wide: true, cell: (template) => template.text.slice(0, 80) },
    {
      title: text.columns.actions,
      right: true,
      cell: (template) => (
        <div className="row end">
          <IconButton
            icon={PencilIcon}
            label={text.changeNamed(template.name)}
            onClick={() => setChanging(template)}
          />
          <IconButton
            icon={Trash2Icon}
            label={text.removeNamed(template.name)}
            onClick={() => setRemoving(template.name)}
          />
        </div>
      ),
    },
  ]
  return (
    <Panel
      title={text.writing}
      actions={
        agent.templates.length < MOST_TEMPLATES && (
          <Button icon={PlusIcon} onClick={() => setChanging('new')}>
            {text.addTemplate}
          </Button>
        )
      }
    >
      <Signature agent={agent} />
      {agent.templates.length > 0 && (
        <Table label={text.templates} columns={columns} rows={agent.templates} keyOf={({ name }) => name} />
      )}
      {changing && (
        <TemplateForm
          agent={agent}
          template={changing === 'new' ? null : changing}
          onClose={() => setChanging(null)}
        />
      )}
      {removing !== null && (
        <Confirm
          title={text.removeTitle(removing)}
          label={text.remove}
          onConfirm={() => update({ templates: agent.templates.filter(({ name }) => name !== removing) })}
          onClose={() => setRemoving(null)}
        >
          <p>{text.removeTemplateHint}</p>
        </Confirm>
      )}
    </Panel>
  )
}
