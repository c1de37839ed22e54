{{/*
One alerting rule. Takes root, name, rule (its values), expr, summary and description; for and labels
where they differ. Every alert says which release it is about, for they are aggregated over pods.
*/}}
{{- define "reconciler.alert" -}}
{{- $root := .root -}}
{{- $runbook := printf "docs/operations.md#%s" (lower .name) -}}
{{- if .rule.enabled }}
- alert: {{ .name }}
  expr: {{ .expr | toRawJson }}
  for: {{ default .rule.for .for }}
  labels:
    severity: {{ .rule.severity | quote }}
    environment: {{ $root.Values.environment | quote }}
    namespace: {{ $root.Release.Namespace | quote }}
    release: {{ $root.Release.Name | quote }}
    {{- with .labels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  annotations:
    summary: {{ .summary | toRawJson }}
    description: {{ .description | toRawJson }}
    runbook: {{ $runbook | quote }}
    {{- with $root.Values.alerts.runbookBase }}
    runbook_url: {{ printf "%s/%s" (trimSuffix "/" .) $runbook | quote }}
    {{- end }}
{{- end }}
{{- end }}

{{/* The matchers that tell this release's metrics from others'. */}}
{{- define "reconciler.selector" -}}
{{- $job := printf "job=\"%s/%s-controller\"" .Release.Namespace (include "reconciler.fullname" .) -}}
{{- default $job .Values.alerts.selector -}}
{{- end }}
