{{/*
The beginning of every object's name. A CronJob's name has 52 characters at most, and Helm lets a
release's name have dots and 53: what had to be changed to fit gets a hash of what it was, so that
two releases do not meet in one name. (Those called `a` and `a-reconciler` would: Helm refuses the
second.)
*/}}
{{- define "reconciler.fullname" -}}
{{- $own := ternary .Release.Name (printf "%s-%s" .Release.Name .Chart.Name) (contains .Chart.Name .Release.Name) -}}
{{- $name := default $own .Values.fullnameOverride -}}
{{- $plain := $name | replace "." "-" -}}
{{- if or (ne $plain $name) (gt (len $plain) 40) -}}
{{- printf "%s-%s" ($plain | trunc 31 | trimSuffix "-") (sha256sum $name | trunc 8) -}}
{{- else -}}
{{- $plain -}}
{{- end -}}
{{- end }}

{{/*
Of what is outside the release's namespace, and so may meet another release's of the same name. A
namespace has no dot in its name, so the first one ends it.
*/}}
{{- define "reconciler.outsideName" -}}
{{ .Release.Namespace }}.{{ include "reconciler.fullname" . }}
{{- end }}

{{- define "reconciler.selectorLabels" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end }}

{{- define "reconciler.labels" -}}
{{ include "reconciler.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end }}

{{- define "reconciler.serviceAccountName" -}}
{{- $own := ternary (include "reconciler.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $own .Values.serviceAccount.name -}}
{{- end }}

{{- define "reconciler.secretName" -}}
{{- default (include "reconciler.fullname" .) .Values.secret.existingName -}}
{{- end }}

{{- define "reconciler.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end }}

{{/*
A number of a values file is a float by the time it is here, and 1234567 would be written as
1.234567e+06. A text stays as it is.
*/}}
{{- define "reconciler.wholeNumber" -}}
{{- if kindIs "string" . }}{{ . }}{{ else }}{{ int64 . }}{{ end -}}
{{- end }}
