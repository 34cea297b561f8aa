//! One route: how it is reached, who may use it, what answers, and what the document says of it. The tables of
//! the protocols are made of these; the router, the document, the metrics and the checks are derived from them.

use std::{collections::BTreeMap, convert::Infallible, sync::Arc};

use axum::{
    Extension,
    extract::FromRequestParts,
    handler::Handler,
    http::{Extensions, request::Parts},
    routing::{MethodFilter, MethodRouter, on},
};
use quipu_wire::{
    ProtocolError,
    akashik::Operation,
    harn::{LIST_LIMIT_DEFAULT, LIST_LIMIT_MAX, List, TokenScope},
    limits::REQUEST_BYTES_MAX,
};
use serde_json::{Value, json};
use utoipa::{
    IntoParams, ToSchema,
    openapi::{
        Content, HttpMethod, KnownFormat, ObjectBuilder, OneOfBuilder, Paths, Ref, RefOr, Required,
        ResponseBuilder, Schema, SchemaFormat, Type,
        extensions::Extensions as Additions,
        path::{OperationBuilder, Parameter, ParameterBuilder, ParameterIn},
        request_body::RequestBodyBuilder,
        schema::SchemaType,
        security::SecurityRequirement,
    },
};

use crate::{limits::READ_AUTHORITY, pipeline::state::App};

const JSON: &str = "application/json";
/// What the document says of the authority that a route needs: a number, or one for each of some payloads.
const AUTHORITY: &str = "x-required-authority";
/// What it says of the largest body that a route reads.
const BODY_BYTES_MAX: &str = "x-max-bytes";

/// The schemas of a document, by name.
pub(crate) type Schemas = BTreeMap<String, RefOr<Schema>>;

#[derive(Debug, Clone, Copy)]
pub(crate) enum Access {
    /// Everybody, without a key.
    Everybody,
    /// A key with at least this authority.
    Key(u8),
    /// A key with the authority that the payload needs.
    Payload(fn(&Value) -> u8),
    /// Any credential of the Harn protocol; an access token must have this scope.
    Credential(Option<TokenScope>),
}

impl From<TokenScope> for Access {
    fn from(scope: TokenScope) -> Self {
        Self::Credential(Some(scope))
    }
}

/// What the table says of the route that a request came by.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Admission {
    pub(crate) operation: Option<Operation>,
    pub(crate) access: Access,
    /// The largest body that is read, unless the options say otherwise.
    pub(crate) body_bytes_max: usize,
}

impl Admission {
    pub(crate) const fn new(operation: Option<Operation>, access: Access) -> Self {
        Self { operation, access, body_bytes_max: REQUEST_BYTES_MAX }
    }

    pub(crate) fn of(extensions: &Extensions) -> Self {
        *extensions.get().expect("every route of a table puts its admission into the request")
    }

    pub(crate) fn authority(&self, payload: &Value) -> u8 {
        match self.access {
            Access::Payload(needed) => needed(payload),
            Access::Key(_) | Access::Everybody | Access::Credential(_) => self.least_authority(),
        }
    }

    /// The authority that every such request needs, whatever its payload.
    pub(crate) const fn least_authority(&self) -> u8 {
        match self.access {
            Access::Key(authority) => authority,
            Access::Credential(Some(_)) => READ_AUTHORITY,
            Access::Everybody | Access::Payload(_) | Access::Credential(None) => 0,
        }
    }

    pub(crate) const fn scope(&self) -> Option<TokenScope> {
        match self.access {
            Access::Credential(scope) => scope,
            Access::Everybody | Access::Key(_) | Access::Payload(_) => None,
        }
    }
}

impl<S: Sync> FromRequestParts<S> for Admission {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        Ok(Self::of(&parts.extensions))
    }
}

/// A row of a table.
pub(crate) struct Route {
    pub(crate) method: HttpMethod,
    pub(crate) path: &'static str,
    pub(crate) admission: Admission,
    handler: MethodRouter<Arc<App>>,
    /// What the document says; a route of which it says nothing has no name.
    described: OperationBuilder,
    parameters: Vec<Parameter>,
    schemas: Vec<fn(&mut Schemas)>,
    has_name: bool,
}

impl Route {
    pub(crate) fn new<H, T>(
        method: HttpMethod,
        path: &'static str,
        admission: Admission,
        handler: H,
    ) -> Self
    where
        H: Handler<T, Arc<App>>,
        T: 'static,
    {
        let names = path.split('/').filter_map(|word| word.strip_prefix('{')?.strip_suffix('}'));
        Self {
            handler: on(filter(&method), handler),
            described: OperationBuilder::new()
                .securities(Some(securities(admission.access)))
                .extensions(authority(&method, admission)),
            parameters: names.map(|name| text(ParameterIn::Path, name)).collect(),
            schemas: Vec::new(),
            has_name: false,
            method,
            path,
            admission,
        }
    }

    /// Its name and its meaning. Without them it is not in the document.
    pub(crate) fn says(mut self, name: &str, summary: &str) -> Self {
        self.has_name = true;
        self.describe(|operation| operation.operation_id(Some(name)).summary(Some(summary)))
    }

    /// Under which heading the document has it.
    pub(crate) fn tag(self, tag: &str) -> Self {
        self.describe(|operation| operation.tags(Some([tag])))
    }

    /// Says which authority each of some payloads needs.
    pub(crate) fn needs_by(self, payloads: impl IntoIterator<Item = Value>) -> Self {
        let admission = self.admission;
        let needed =
            |payload| json!({"authority": admission.authority(&payload), "payload": payload});
        let needed = payloads.into_iter().map(needed).collect();
        self.describe(|operation| {
            operation.extensions(Some(Additions::from_iter([(AUTHORITY, Value::Array(needed))])))
        })
    }

    /// The largest body that it reads, where that is not the largest of all.
    pub(crate) fn at_most(mut self, bytes: usize) -> Self {
        self.admission.body_bytes_max = bytes;
        self
    }

    fn describe(mut self, more: impl FnOnce(OperationBuilder) -> OperationBuilder) -> Self {
        self.described = more(self.described);
        self
    }

    /// Ours beyond the protocol.
    pub(crate) fn ours(self) -> Self {
        self.tag("quipu")
    }

    /// The headers that all routes like it share. They stand before what is in its path.
    pub(crate) fn headers<P: IntoParams>(mut self) -> Self {
        self.parameters.splice(0..0, P::into_params(|| Some(ParameterIn::Header)));
        self
    }

    pub(crate) fn query<P: IntoParams>(mut self) -> Self {
        self.parameters.extend(P::into_params(|| Some(ParameterIn::Query)));
        self
    }

    /// A schema that its parameters name.
    pub(crate) fn names<T: ToSchema>(mut self) -> Self {
        self.schemas.push(collect::<T>);
        self
    }

    /// What a parameter of its path stands for.
    pub(crate) fn explains(mut self, name: &str, meaning: &str) -> Self {
        for parameter in self.parameters.iter_mut().filter(|parameter| parameter.name == name) {
            parameter.description = Some(meaning.to_owned());
        }
        self
    }

    fn parameter(mut self, parameter: Parameter) -> Self {
        self.parameters.push(parameter);
        self
    }

    /// A text that narrows a list down.
    pub(crate) fn filter(self, name: &str) -> Self {
        self.parameter(text(ParameterIn::Query, name))
    }

    pub(crate) fn optional(self, place: ParameterIn, name: &str, meaning: &str) -> Self {
        self.parameter(text(place, name)).explains(name, meaning)
    }

    pub(crate) fn required(self, place: ParameterIn, name: &str, meaning: &str) -> Self {
        let mut route = self.optional(place, name, meaning);
        if let Some(parameter) = route.parameters.last_mut() {
            parameter.required = Required::True;
        }
        route
    }

    /// How many entries a list may have.
    pub(crate) fn limit(self) -> Self {
        let schema = ObjectBuilder::new()
            .schema_type(Type::Integer)
            .minimum(Some(1))
            .maximum(Some(LIST_LIMIT_MAX));
        let meaning = format!("1 to {LIST_LIMIT_MAX}; {LIST_LIMIT_DEFAULT} if absent.");
        let builder = ParameterBuilder::from(text(ParameterIn::Query, "limit"));
        self.parameter(builder.description(Some(meaning)).schema(Some(schema)).build())
    }

    /// A list that comes page by page.
    pub(crate) fn paged(self) -> Self {
        self.limit().filter("cursor")
    }

    /// Sent twice under one key, it is carried out once.
    pub(crate) fn once(self) -> Self {
        self.parameter(text(ParameterIn::Header, "Idempotency-Key"))
    }

    fn body(self, required: bool, media_type: &str, schema: RefOr<Schema>, says: &str) -> Self {
        let mut body = RequestBodyBuilder::new().content(media_type, Content::new(Some(schema)));
        if required {
            body = body.required(Some(Required::True));
        }
        if !says.is_empty() {
            body = body.description(Some(says));
        }
        self.describe(|operation| operation.request_body(Some(body.build())))
    }

    /// Its body, which is read as JSON.
    pub(crate) fn reads<T: ToSchema>(self) -> Self {
        self.names::<T>().body(true, JSON, reference::<T>(), "")
    }

    /// The same for the payload of a message.
    pub(crate) fn payload<T: ToSchema>(self) -> Self {
        let says = match self.admission.operation {
            Some(operation) => {
                format!("The payload, or the whole envelope with operation {operation} around it.")
            }
            None => "The payload; there is no envelope for it.".to_owned(),
        };
        self.names::<T>().body(true, JSON, reference::<T>(), &says)
    }

    /// A body that is carried out once under one key.
    pub(crate) fn takes<T: ToSchema>(self) -> Self {
        self.once().reads::<T>()
    }

    /// The same where the body may be absent.
    pub(crate) fn takes_optional<T: ToSchema>(self) -> Self {
        let nothing = ObjectBuilder::new().schema_type(Type::Null);
        let either = OneOfBuilder::new().item(reference::<T>()).item(nothing).into();
        self.once().names::<T>().body(false, JSON, either, "")
    }

    pub(crate) fn reads_bytes(self) -> Self {
        self.body(true, "application/octet-stream", bytes(), "")
    }

    pub(crate) fn reads_anything(self) -> Self {
        let anything = ObjectBuilder::new().schema_type(SchemaType::AnyValue).into();
        self.body(true, JSON, anything, "")
    }

    fn response(self, status: &str, says: &str, contents: Vec<(&str, RefOr<Schema>)>) -> Self {
        let response = contents.into_iter().fold(
            ResponseBuilder::new().description(says),
            |response, (media_type, schema)| {
                response.content(media_type, Content::new(Some(schema)))
            },
        );
        self.describe(|operation| operation.response(status, response.build()))
    }

    /// An answer in JSON.
    pub(crate) fn answers<T: ToSchema>(self, status: u16, says: &str) -> Self {
        self.refuses::<T>(&status.to_string(), says)
    }

    /// A refusal, by its status or a word for many of them.
    pub(crate) fn refuses<T: ToSchema>(self, status: &str, says: &str) -> Self {
        self.names::<T>().response(status, says, vec![(JSON, reference::<T>())])
    }

    /// What a failure means here.
    pub(crate) fn failed(self, says: &str) -> Self {
        self.refuses::<ProtocolError>("5XX", says)
    }

    /// A page of a list.
    pub(crate) fn lists<T: ToSchema>(mut self, says: &str) -> Self
    where
        List<T>: ToSchema,
    {
        self.schemas.extend([collect::<T>, collect_list::<T>]);
        let list = Ref::from_schema_name(list_name::<T>()).into();
        self.response("200", says, vec![(JSON, list)])
    }

    /// Server-sent events.
    pub(crate) fn streams<T: ToSchema>(self, says: &str) -> Self {
        self.names::<T>().response("200", says, vec![("text/event-stream", reference::<T>())])
    }

    /// An answer without a body, or with one that no schema describes.
    pub(crate) fn empty(self, status: u16, says: &str) -> Self {
        self.response(&status.to_string(), says, Vec::new())
    }

    pub(crate) fn text(self, says: &str) -> Self {
        let text = ObjectBuilder::new().schema_type(Type::String).into();
        self.response("200", says, vec![("text/plain", text)])
    }

    pub(crate) fn bytes(self, says: &str) -> Self {
        self.response("200", says, vec![("application/octet-stream", bytes())])
    }

    /// A resource, the same bare, or the same as bytes, by what the caller accepts.
    pub(crate) fn answers_as<T: ToSchema, Bare: ToSchema>(
        self,
        says: &str,
        bare: &str,
        packed: &str,
    ) -> Self {
        let contents =
            vec![(JSON, reference::<T>()), (bare, reference::<Bare>()), (packed, bytes())];
        self.names::<T>().names::<Bare>().response("200", says, contents)
    }

    pub(crate) fn handler(self) -> MethodRouter<Arc<App>> {
        self.handler.route_layer(Extension(self.admission))
    }

    /// Adds it to a document, if it is to be there.
    pub(crate) fn document(self, paths: &mut Paths, schemas: &mut Schemas) {
        if self.has_name {
            self.schemas.iter().for_each(|collect| collect(schemas));
            let parameters = (!self.parameters.is_empty()).then_some(self.parameters);
            let mut operation = self.described.parameters(parameters).build();
            if let Some(RefOr::T(body)) = &mut operation.request_body
                && body.content.contains_key(JSON)
            {
                let most = (BODY_BYTES_MAX, self.admission.body_bytes_max);
                body.extensions = Some(Additions::from_iter([most]));
            }
            paths.add_path_operation(self.path, vec![self.method], operation);
        }
    }
}

fn filter(method: &HttpMethod) -> MethodFilter {
    match method {
        HttpMethod::Get => MethodFilter::GET,
        HttpMethod::Post => MethodFilter::POST,
        HttpMethod::Put => MethodFilter::PUT,
        HttpMethod::Delete => MethodFilter::DELETE,
        HttpMethod::Options => MethodFilter::OPTIONS,
        HttpMethod::Head => MethodFilter::HEAD,
        HttpMethod::Patch => MethodFilter::PATCH,
        HttpMethod::Trace => MethodFilter::TRACE,
    }
}

/// What the document says of the authority, where the table knows it: what a write of the Harn protocol needs depends on the
/// resource, and its rule says it.
fn authority(method: &HttpMethod, admission: Admission) -> Option<Additions> {
    match admission.access {
        Access::Credential(_) if *method != HttpMethod::Get => None,
        Access::Everybody => None,
        Access::Key(_) | Access::Payload(_) | Access::Credential(_) => {
            Some(Additions::from_iter([(AUTHORITY, admission.least_authority())]))
        }
    }
}

fn securities(access: Access) -> Vec<SecurityRequirement> {
    let key = || SecurityRequirement::new("key", [""; 0]);
    match access {
        Access::Everybody => Vec::new(),
        Access::Key(_) | Access::Payload(_) => vec![key()],
        Access::Credential(scope) => {
            let scopes = scope.iter().map(|scope| scope.as_str());
            vec![key(), SecurityRequirement::new("oauth2", scopes)]
        }
    }
}

fn text(place: ParameterIn, name: &str) -> Parameter {
    let required = if place == ParameterIn::Path { Required::True } else { Required::False };
    let schema = ObjectBuilder::new().schema_type(Type::String);
    let builder = ParameterBuilder::new().name(name).parameter_in(place).required(required);
    builder.schema(Some(schema)).build()
}

fn bytes() -> RefOr<Schema> {
    let binary = SchemaFormat::KnownFormat(KnownFormat::Binary);
    ObjectBuilder::new().schema_type(Type::String).format(Some(binary)).into()
}

fn reference<T: ToSchema>() -> RefOr<Schema> {
    Ref::from_schema_name(T::name()).into()
}

fn collect<T: ToSchema>(schemas: &mut Schemas) {
    let mut named = Vec::new();
    T::schemas(&mut named);
    schemas.extend(named);
    schemas.insert(T::name().into_owned(), T::schema());
}

fn list_name<T: ToSchema>() -> String {
    format!("List_{}", T::name())
}

fn collect_list<T: ToSchema>(schemas: &mut Schemas)
where
    List<T>: ToSchema,
{
    collect::<List<T>>(schemas);
    if let Some(list) = schemas.remove("List") {
        schemas.insert(list_name::<T>(), list);
    }
}
